"""A model on disk: what is saved comes back, others read it, and what is damaged or foreign is named."""

import json
import os

import pytest
import torch
from safetensors.torch import load_file, save_file

from course_utils import checkpoint
from course_utils.bigram import BigramLM
from course_utils.checkpoint import fingerprint, load_model, save_model
from course_utils.text import SPECIALS, CharVocab
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab('\n !"abc{}é—')


def made(seed=0, **changes):
    torch.manual_seed(seed)
    settings = dict(vocab_size=len(VOCAB), n_layer=2, n_head=4, n_kv_head=2, n_embd=16, block_size=12, n_inner=20)
    return Transformer(TransformerConfig(**(settings | changes))).eval()


@pytest.fixture
def folder(tmp_path):
    save_model(made(), VOCAB, tmp_path)
    return tmp_path


def config_of(folder):
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def rewrite(folder, **changes):
    config = {key: value for key, value in (config_of(folder) | changes).items() if value is not None}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8", newline="\n")


@pytest.mark.parametrize("changes", [{}, dict(n_kv_head=1, tie_embeddings=True), dict(rope_theta=500.0, norm_eps=1e-3)])
def test_what_is_saved_comes_back(tmp_path, changes):
    model = made(**changes)
    save_model(model, VOCAB, tmp_path / "new" / "folder")
    back, vocab = load_model(tmp_path / "new" / "folder")
    assert back.config == model.config and vocab == VOCAB and not back.training
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), back.state_dict().values(), strict=True))
    assert fingerprint(back, vocab) == fingerprint(model, VOCAB)
    ids = torch.tensor([[0, 7, 8, 9]])
    assert torch.equal(back(ids), model(ids))


def test_the_home_folder_may_be_written_as_in_a_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    save_model(made(), VOCAB, "~/my model")
    assert os.listdir(tmp_path) == ["home"] and load_model("~/my model")[1] == VOCAB
    with pytest.raises(ValueError, match="no such home folder"):
        save_model(made(), VOCAB, "~nobody-of-this-name/model")


@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt()])
def test_what_could_not_be_saved_leaves_the_folder_as_it_was(folder, monkeypatch, error):
    def full(tensors, path, metadata):
        path.write_bytes(b"half of it")
        raise error

    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(type(error)):
        save_model(made(1), CharVocab(VOCAB.characters[::-1]), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_holds_plain_data_and_nothing_half_written(folder):
    assert sorted(os.listdir(folder)) == [
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    names = set(load_file(folder / "model.safetensors"))
    assert "model.layers.1.self_attn.k_proj.weight" in names and len(names) == 3 + 2 * 9
    save_model(made(1), VOCAB, folder)
    assert fingerprint(*load_model(folder)) == fingerprint(made(1), VOCAB)


def test_other_librarys_tokenizer_gives_our_ids(folder, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = 'a b\n<call>{"b"}</call><result>é—</result> !<eos>'
    assert tokenizer(text).input_ids == [VOCAB.bos_id, *VOCAB.encode(text)]
    assert tokenizer.decode(VOCAB.encode(text), skip_special_tokens=True) == VOCAB.decode(VOCAB.encode(text))
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (0, 1, 2)
    assert tokenizer.all_special_tokens and set(tokenizer.all_special_tokens) <= set(SPECIALS)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"no {name} in"):
        load_model(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["empty", "cut off", "other bytes"])
def test_a_damaged_file_is_named(folder, name, damage):
    path = folder / name
    content = path.read_bytes()
    path.write_bytes(
        {"empty": b"", "cut off": content[: len(content) // 2], "other bytes": b"\xff\xfe\x00PK" * 9}[damage]
    )
    with pytest.raises(ValueError, match=f"{name} is damaged"):
        load_model(folder)


def test_a_folder_that_is_not_there_is_named():
    with pytest.raises(FileNotFoundError, match=r"'tiny_lama'.*tiny_llama"):
        load_model("tiny_lama")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (dict(model_type="gpt2"), "model_type is 'gpt2'"),
        (dict(model_type=None), "model_type is None"),
        (dict(hidden_size=None), "lacks 'hidden_size'"),
        (dict(hidden_size="16"), "hidden_size is '16'"),
        (dict(num_attention_heads=3), "multiple of"),
        (dict(attention_bias=True), "attention_bias"),
        (dict(hidden_act="gelu"), "hidden_act"),
        (dict(rope_parameters={"rope_type": "yarn"}), "yarn"),
        (dict(rope_parameters=None, rope_scaling={"rope_type": "linear"}), "linear"),
        (dict(head_dim=32), "head_dim"),
        (dict(vocab_size=9), "says 9"),
        (dict(num_hidden_layers=3), "lacks 'model.layers.2"),
        (dict(num_hidden_layers=1), "has the unknown 'model.layers.1"),
        (dict(intermediate_size=24), "has the shape"),
        (dict(tie_word_embeddings=True), "lm_head.weight differs from model.embed_tokens.weight"),
    ],
)
def test_a_foreign_or_mixed_up_folder_is_refused(folder, changes, said):
    rewrite(folder, **changes)
    with pytest.raises(ValueError, match=said):
        load_model(folder)


@pytest.mark.parametrize("content", ["[1, 2]", '"llama"', "3"])
def test_a_config_of_another_kind_is_refused(folder, content):
    (folder / "config.json").write_text(content, encoding="utf-8", newline="\n")
    with pytest.raises(ValueError, match="only 'llama' can be loaded"):
        load_model(folder)


def test_older_config_files_are_read(folder):
    rewrite(folder, rope_parameters=None, rope_theta=777.0, head_dim=None)
    assert load_model(folder)[0].config.rope_theta == 777.0


def test_a_tokenizer_of_another_kind_is_refused(folder):
    from tokenizers import Tokenizer, models

    Tokenizer(models.WordLevel({"a": 0, "<pad>": 1}, unk_token="<pad>")).save(str(folder / "tokenizer.json"))
    with pytest.raises(ValueError, match="no character vocabulary"):
        load_model(folder)


def test_half_precision_weights_are_read_as_float32(folder):
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor.bfloat16() for name, tensor in tensors.items()}, folder / "model.safetensors")
    model, _ = load_model(folder)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert torch.equal(model.model.embed_tokens.weight, made().model.embed_tokens.weight.bfloat16().float())


def test_model_and_vocabulary_must_fit(tmp_path):
    with pytest.raises(ValueError, match=f"has {len(VOCAB)} tokens, the model 9"):
        save_model(made(vocab_size=9), VOCAB, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_the_fingerprint_is_that_of_weights_shape_and_vocabulary():
    same = fingerprint(made(), VOCAB)
    assert fingerprint(made(), VOCAB) == same and len(same) == 64
    changed = made()
    with torch.no_grad():
        changed.model.layers[0].mlp.down_proj.weight[3, 3] += 1e-6
    others = [
        fingerprint(changed, VOCAB),
        fingerprint(made(norm_eps=1e-3), VOCAB),
        fingerprint(made(), CharVocab('\n !"abc{}é–')),
        fingerprint(BigramLM.fit([0, 1, 2], len(VOCAB)), VOCAB),
    ]
    assert len({same, *others}) == 5

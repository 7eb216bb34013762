"""A folder that transformers wrote, with the vocabulary laid beside it: the same logits, or the reason why not.

The judge is transformers itself: it opens the same folder, and computes in float32 as we do.
"""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM
from transformers import logging as transformers_logging

from course_utils.checkpoint import load_model, save_model
from course_utils.text import CharVocab
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab.from_text("abcdefgh \n")
IDS = torch.tensor([[VOCAB.bos_id, *VOCAB.encode("abc defgh abc abc fed cba")]])
SMALL = {"vocab_size": len(VOCAB), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
SMALL |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
INDEX = "model.safetensors.index.json"


@pytest.fixture(autouse=True)
def offline_and_quiet(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabulary")
    save_model(Transformer(TransformerConfig(len(VOCAB), 1, 2, 1, 16, 16)), VOCAB, folder)
    return folder / "tokenizer.json"


@pytest.fixture
def foreign(tmp_path, tokenizer_file):
    """Makes the folder. changes: of the model's shape; dtype: of its weights; more is for `save_pretrained`."""

    def make(changes=None, dtype=torch.float32, **more):
        torch.manual_seed(0)
        model = LlamaForCausalLM(LlamaConfig(**(SMALL | (changes or {})), initializer_range=0.3)).to(dtype)
        model.save_pretrained(tmp_path, **more)
        shutil.copy(tokenizer_file, tmp_path)
        return tmp_path

    return make


def edit(folder, drop=(), **entries):
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | entries
    text = json.dumps({key: value for key, value in config.items() if key not in drop})
    path.write_text(text, encoding="utf-8", newline="\n")
    return folder


def edit_tensors(folder, change):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})
    return folder


@torch.no_grad()
def assert_same_logits(folder):
    theirs = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()(IDS).logits
    model, vocab = load_model(folder)
    assert vocab == VOCAB
    torch.testing.assert_close(model(IDS), theirs, rtol=1e-4, atol=1e-4)
    assert theirs.std() > 0.1  # logits that are all alike would agree with anything


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tie_word_embeddings": True},
        {"num_key_value_heads": 4, "rms_norm_eps": 1e-3},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_model_that_transformers_saved_gives_its_logits(foreign, changes, dtype):
    assert_same_logits(foreign(changes, dtype))


def test_weights_in_several_files_are_joined(foreign):
    folder = foreign(max_shard_size="20KB")
    assert (folder / INDEX).is_file() and len(list(folder.glob("*.safetensors"))) > 2
    assert_same_logits(folder)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: max(folder.glob("*.safetensors")).unlink(), r"There is no model-0000\d-of-0000\d.safetensors"),
        (lambda folder: max(folder.glob("*.safetensors")).write_bytes(b"no"), "is damaged or not a safetensors file"),
        (lambda folder: (folder / INDEX).write_text("{}", encoding="utf-8", newline="\n"), "has no weight_map"),
        (lambda folder: edit_index(folder, "lm_head.weight", "../../else.safetensors"), "in the same folder"),
        (lambda folder: edit_index(folder, "lm_head.weight", "lm_head.bin"), "expected a .safetensors file"),
        (lambda folder: edit_index(folder, "unknown.weight", None), "is not where model.safetensors.index.json says"),
        (lambda folder: save_file({}, folder / "model.safetensors"), "two sources of weights"),
    ],
)
def test_several_files_that_do_not_belong_together_are_refused(foreign, harm, said):
    folder = foreign(max_shard_size="20KB")
    harm(folder)
    with pytest.raises((ValueError, FileNotFoundError), match=said):
        load_model(folder)


def edit_index(folder, name, place):
    listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    listed["weight_map"][name] = place or next(iter(listed["weight_map"].values()))
    (folder / INDEX).write_text(json.dumps(listed), encoding="utf-8", newline="\n")


@pytest.mark.parametrize(
    "scaling",
    [
        {"rope_type": "linear", "factor": 4.0},
        {"rope_type": "dynamic", "factor": 2.0},
        {"rope_type": "yarn", "factor": 4.0},
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
    ],
)
def test_scaled_rotary_angles_are_refused(foreign, scaling):
    folder = foreign({"rope_parameters": {"rope_theta": 10000.0, **scaling}})
    with pytest.raises(ValueError, match=f"config.json: rope_parameters has rope_type '{scaling['rope_type']}'"):
        load_model(folder)


@pytest.mark.parametrize("key", ["type", "rope_type"])
def test_rope_scaling_with_the_older_key_is_not_read_as_no_scaling(foreign, key):
    folder = edit(foreign(), ["rope_parameters"], rope_scaling={key: "linear", "factor": 4.0}, rope_theta=10000.0)
    with pytest.raises(ValueError, match=f"config.json: rope_scaling has {key} 'linear'"):
        load_model(folder)


@pytest.mark.parametrize("older", [{"rope_scaling": None}, {"rope_scaling": {"type": "default"}}])
def test_unscaled_angles_under_the_older_keys_are_read(foreign, older):
    assert_same_logits(edit(foreign(), ["rope_parameters"], rope_theta=777.0, **older))


@pytest.mark.parametrize("name", ["attention_bias", "mlp_bias"])
def test_biases_are_refused(foreign, name):
    with pytest.raises(ValueError, match=f"config.json: {name} is True"):
        load_model(foreign({name: True}))


def test_biases_that_only_the_weights_have_are_refused(foreign):
    folder = edit(foreign({"attention_bias": True}), attention_bias=False)
    with pytest.raises(ValueError, match=r"has the unknown 'model\.layers\.0\.self_attn\.k_proj\.bias'"):
        load_model(folder)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"rms_norm_eps": "1e-05"}, "rms_norm_eps is '1e-05'; expected a number"),
        ({"rms_norm_eps": None}, "rms_norm_eps is null"),
        ({"rope_theta": "10000", "rope_parameters": None}, "rope_theta is '10000'; expected a number"),
        ({"rope_scaling": "linear"}, "rope_scaling is 'linear'; expected an object"),
        ({"num_hidden_layers": 2.0}, "num_hidden_layers is 2.0; expected an integer"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"hidden_size": 10**400}, "hidden_size is 1000"),
        ({"max_position_embeddings": 2**30}, "max_position_embeddings is 1073741824; expected at most"),
        ({"tie_word_embeddings": "false"}, "tie_word_embeddings is 'false'; expected true or false"),
        ({"attention_bias": "false"}, "attention_bias is 'false'"),
        ({"rope_theta": 500.0}, "rope_theta is 500.0, rope_theta in rope_parameters is 10000.0. Expected one value"),
        ({"rope_parameters": {"rope_type": "default"}}, "there is no rope_theta"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
        ({"head_dim": 16}, "head_dim is 16"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantization_config"),
    ],
)
def test_an_entry_of_the_wrong_kind_is_named_while_loading(foreign, entries, said):
    with pytest.raises(ValueError) as refused:
        load_model(edit(foreign(), **entries))
    assert "config.json: " in str(refused.value) and said in str(refused.value)


def test_an_entry_that_stands_there_twice_is_refused(foreign):
    path = (folder := foreign()) / "config.json"
    text = path.read_text(encoding="utf-8").replace("{", '{"rms_norm_eps": 0.1,', 1)
    path.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(ValueError, match=r"config\.json is damaged: the entry 'rms_norm_eps' stands there twice"):
        load_model(folder)


def test_frequencies_that_older_files_hold_are_left_out(foreign):
    name = "model.layers.0.self_attn.rotary_emb.inv_freq"
    assert_same_logits(edit_tensors(foreign(), lambda tensors: tensors.update({name: torch.ones(4)})))


def test_tied_weights_that_are_stored_twice_are_opened_if_they_are_equal(foreign):
    folder = foreign({"tie_word_embeddings": True})

    def twice(tensors):
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()

    assert_same_logits(edit_tensors(folder, twice))
    edit_tensors(folder, lambda tensors: tensors["lm_head.weight"].add_(1))
    with pytest.raises(ValueError, match=r"lm_head\.weight differs from model\.embed_tokens\.weight"):
        load_model(folder)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool, torch.float8_e4m3fn])
def test_weights_that_are_no_plain_floats_are_refused(foreign, dtype):
    name = "model.layers.1.mlp.up_proj.weight"
    folder = edit_tensors(foreign(), lambda tensors: tensors.update({name: tensors[name].to(dtype)}))
    with pytest.raises(ValueError, match=f"{name} is of {dtype}"):
        load_model(folder)


def test_pickled_weights_are_not_read(foreign):
    folder = foreign()
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match="pickled code, which is not read"):
        load_model(folder)


def test_transformers_own_tokenizer_is_refused(foreign):
    folder = foreign()
    content = {"version": "1.0", "model": {"type": "BPE", "vocab": {"<s>": 0, "</s>": 1}, "merges": []}}
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8", newline="\n")
    with pytest.raises(ValueError, match="no character vocabulary of this course"):
        load_model(folder)


def test_a_folder_called_like_the_shipped_model_is_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(Transformer(TransformerConfig(len(VOCAB), 1, 2, 1, 16, 16)), VOCAB, "tiny_llama")
    with pytest.raises(ValueError, match=r"'\./tiny_llama'.*rename the folder"):
        load_model("tiny_llama")
    assert load_model("./tiny_llama")[1] == VOCAB
    assert load_model(tmp_path / "tiny_llama")[1] == VOCAB

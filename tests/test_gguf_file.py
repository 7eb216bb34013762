"""The shipped model as a GGUF file: read back by transformers, equal bytes each time, errors that say what to do.

What llama.cpp itself computes from the file is in `test_engines`, which needs the optional extra.
"""

import hashlib

import pytest
import torch
from gguf import GGUFReader
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from course_utils import checkpoint, text
from course_utils.compare_logits import compare_logits
from course_utils.gguf_file import to_gguf
from course_utils.training.trainer import new_model
from course_utils.transformer import TransformerConfig

# Of the shipped model\'s file: the same on every Python and system.
SHA256 = "9bd705d2745c1b17224e2fb45040472b923ffad0fae8a3f2f0df0dce41830cd6"
VOCAB = text.CharVocab.from_text("abc ")
SHAPES = {
    "as many keys as queries": TransformerConfig(len(VOCAB), 2, 4, 4, 32, 64),
    "one key head": TransformerConfig(len(VOCAB), 1, 4, 1, 32, 64),
    "tied": TransformerConfig(len(VOCAB), 2, 2, 1, 16, 32, n_inner=64, tie_embeddings=True, rope_theta=500.0),
}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    return to_gguf("tiny_llama", tmp_path_factory.mktemp("gguf") / "tiny_llama.gguf")


def read_by_transformers(path):
    """The model that transformers makes of the file, with nothing known but the file."""
    config = LlamaConfig(**load_gguf_checkpoint(path)["config"])
    model = LlamaForCausalLM(config).eval()
    missing, unexpected = model.load_state_dict(
        load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)["tensors"], strict=False
    )
    assert not unexpected and set(missing) <= ({"lm_head.weight"} if config.tie_word_embeddings else set())
    model.tie_weights()
    return model


@torch.no_grad()
def test_transformers_reads_the_file_and_gives_our_logits(shipped):
    ours, vocab = checkpoint.load_model("tiny_llama")
    theirs = read_by_transformers(shipped)
    for name in text.SHIPPED:
        ids = torch.tensor([[vocab.bos_id, *vocab.encode(text.load_documents(name, "validation")[2])]])
        report = compare_logits(ours(ids), theirs(ids).logits)
        assert report, str(report)


@torch.no_grad()
@pytest.mark.parametrize("name", SHAPES)
def test_other_shapes_come_back_too(name, tmp_path):
    ours = new_model(VOCAB, SHAPES[name], seed=0).eval()
    checkpoint.save_model(ours, VOCAB, tmp_path / "folder")
    theirs = read_by_transformers(to_gguf(tmp_path / "folder", tmp_path / "x.gguf"))
    ids = torch.tensor([[0, *VOCAB.encode("abc cab")]])
    report = compare_logits(ours(ids), theirs(ids).logits)
    assert report, str(report)


def test_the_vocabulary_is_there_with_its_specials(shipped):
    vocab = checkpoint.load_model("tiny_llama")[1]
    read = load_gguf_checkpoint(shipped)["tokenizer"]
    assert [token.replace("\u2581", " ") for token in read["tokens"]] == list(vocab.tokens)
    assert [kind == 3 for kind in read["token_type"]] == [token in text.SPECIALS for token in vocab.tokens]
    assert (read["bos_token_id"], read["eos_token_id"], read["pad_token_id"]) == (0, 1, 2)


def test_a_tied_head_is_left_out(tmp_path):
    checkpoint.save_model(new_model(VOCAB, SHAPES["tied"], seed=0), VOCAB, tmp_path / "folder")
    names = [tensor.name for tensor in GGUFReader(to_gguf(tmp_path / "folder", tmp_path / "x.gguf")).tensors]
    assert "output.weight" not in names and "token_embd.weight" in names


def test_the_same_folder_gives_the_same_bytes_each_time_and_on_every_python(shipped, tmp_path):
    again = to_gguf(text.DATA / "tiny_llama", tmp_path / "another name.gguf")
    assert again.read_bytes() == shipped.read_bytes()
    again = to_gguf("tiny_llama", again)  # it replaces a file
    assert hashlib.sha256(again.read_bytes()).hexdigest() == SHA256
    assert [path.name for path in tmp_path.iterdir()] == ["another name.gguf"]


def test_bad_paths_are_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="tiny_lama"):
        to_gguf("tiny_lama", tmp_path / "x.gguf")
    with pytest.raises(ValueError, match="is a folder; expected the name of a file"):
        to_gguf("tiny_llama", tmp_path)
    with pytest.raises(ValueError, match=r"There is no folder .*nowhere.* for .x\.gguf"):
        to_gguf("tiny_llama", tmp_path / "nowhere" / "x.gguf")
    with pytest.raises(TypeError, match="expected a str or a Path"):
        to_gguf("tiny_llama", 3)
    assert not list(tmp_path.iterdir())


def test_no_room_is_a_sentence_and_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of a process are those of POSIX")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        with pytest.raises(OSError, match=r"takes about 4 MB and could not be written\. Give another path"):
            to_gguf("tiny_llama", tmp_path / "x.gguf")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_what_is_not_a_file_is_never_replaced(tmp_path):
    device = text.as_path("/dev/null")
    if device.exists():
        with pytest.raises(ValueError, match="not an ordinary file"):
            to_gguf("tiny_llama", device)
        assert not device.is_file()

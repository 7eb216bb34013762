"""A model's folder as one GGUF file, the format that llama.cpp reads.

The numbers are those of the folder. Only their place changes: the rows of queries and keys are ordered in another way,
because llama.cpp turns neighbouring dimensions in a rotation, and the folder's layout turns the two halves of a head.
"""

from pathlib import Path

import gguf
import numpy as np

from course_utils.checkpoint import load_model
from course_utils.text import SPECIALS, CharVocab, as_path
from course_utils.transformer import Transformer

_SPACE = "\u2581"  # how the vocabularies that llama.cpp calls "llama" write a space


def to_gguf(folder: str | Path, out: str | Path) -> Path:
    """Write the model of `folder` into the file `out`, and return its path. The same folder gives the same bytes.

    folder: "tiny_llama", or a folder that `load_model` reads. The weights are written as float32.
    out: the file; it is replaced whole if it exists. ~ is the home folder.
    Raises what `load_model` raises for the folder; ValueError if `out` is not a file or its folder does not exist;
        OSError if it cannot be written, for example because the disk is full. A file that was begun is removed.
    Source: the GGUF format, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
    """
    model, vocab = load_model(folder)
    path = as_path(out)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not an ordinary file"
        raise ValueError(f"{str(path)!r} is {kind}; expected the name of a file, such as 'tiny_llama.gguf'.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {str(path.parent)!r} for {path.name!r}. Make it, or give another path.")
    part = path.with_name(path.name + ".part")
    try:
        _write(model, vocab, part)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        size = sum(4 * weights.numel() for weights in model.state_dict().values()) // 1_000_000 + 1
        raise OSError(
            error.errno, f"{reason}: {str(path)!r} takes about {size} MB and could not be written. Give another path"
        ) from None
    return path


def _write(model: Transformer, vocab: CharVocab, path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    try:
        _describe(writer, model)
        _add_vocabulary(writer, vocab)
        for name, weights in _tensors(model).items():
            writer.add_tensor(name, weights)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _describe(writer: gguf.GGUFWriter, model: Transformer) -> None:
    config = model.config
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(config.block_size)
    writer.add_embedding_length(config.n_embd)
    writer.add_block_count(config.n_layer)
    writer.add_feed_forward_length(config.n_inner)
    writer.add_head_count(config.n_head)
    writer.add_head_count_kv(config.n_kv_head)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_vocab_size(config.vocab_size)


def _add_vocabulary(writer: gguf.GGUFWriter, vocab: CharVocab) -> None:
    """Single characters: llama.cpp may merge only into tokens that exist, and no longer ones do."""
    kinds = {True: gguf.TokenType.CONTROL, False: gguf.TokenType.NORMAL}
    writer.add_tokenizer_model("llama")
    writer.add_token_list([t if t in SPECIALS else t.replace(" ", _SPACE) for t in vocab.tokens])
    writer.add_token_scores([0.0] * len(vocab))
    writer.add_token_types([kinds[token in SPECIALS] for token in vocab.tokens])
    writer.add_bos_token_id(vocab.bos_id)
    writer.add_eos_token_id(vocab.eos_id)
    writer.add_pad_token_id(vocab.pad_id)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)


def _tensors(model: Transformer) -> dict[str, np.ndarray]:
    """The weights under GGUF's names. A tied head is left out; llama.cpp then takes the embedding."""
    config, names = model.config, gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, model.config.n_layer)
    heads = {"q_proj.weight": config.n_head, "k_proj.weight": config.n_kv_head}
    found = {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_embeddings:
            continue
        weights = tensor.detach().cpu().numpy().astype(np.float32)
        if n_head := heads.get(".".join(name.split(".")[-2:])):
            weights = _neighbours(weights, n_head)
        found[str(names.get_name(name, try_suffixes=(".weight",)))] = np.ascontiguousarray(weights)
    return found


def _neighbours(rows: np.ndarray, n_head: int) -> np.ndarray:
    """Each head's rows 0, 1, … D-1 in the order 0, D/2, 1, D/2 + 1, …: what is turned together becomes neighbours."""
    return rows.reshape(n_head, 2, -1, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)

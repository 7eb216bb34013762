"""A model and its vocabulary on disk, in the layout that Hugging Face transformers, vLLM and others read.

A folder holds `config.json`, `model.safetensors` and `tokenizer.json`: text and plain numbers, never pickled code. The
file of weights is the model's `state_dict`, whose names are those of the layout; a tied head is left out of it.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from torch import nn

from course_utils.text import BOS, DATA, EOS, PAD, SPECIALS, CharVocab
from course_utils.transformer import Transformer, TransformerConfig

SHIPPED_MODELS = ("tiny_llama",)
_CONFIG, _WEIGHTS, _TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
_EMBEDDING, _HEAD = "model.embed_tokens.weight", "lm_head.weight"  # one and the same where they are tied
_TOKENIZER_CONFIG = "tokenizer_config.json"  # for transformers, which wants to be told which specials mean what


def save_model(model: Transformer, vocab: CharVocab, folder: str | Path) -> None:
    """Write the folder; in one that has these files already, each is replaced whole.

    Raises ValueError if model and vocabulary differ in size.
    """
    if len(vocab) != model.config.vocab_size:
        raise ValueError(f"The vocabulary has {len(vocab)} tokens, the model {model.config.vocab_size}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / _CONFIG, json.dumps(_config_to_json(model.config, vocab), indent=2) + "\n")
    _write(folder / _TOKENIZER, _tokenizer(vocab).to_str(pretty=True) + "\n")
    names = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": BOS, "eos_token": EOS, "pad_token": PAD}
    _write(folder / _TOKENIZER_CONFIG, json.dumps(names, indent=2) + "\n")
    temporary = folder / (_WEIGHTS + ".part")
    tensors = model.state_dict()
    if model.config.tie_embeddings:
        del tensors[_HEAD]
    save_file(tensors, temporary, metadata={"format": "pt"})
    temporary.replace(folder / _WEIGHTS)


@torch.inference_mode(False)  # there tensors get no version counter, by which caches and records notice a change
def load_model(source: str | Path) -> tuple[Transformer, CharVocab]:
    """The model, in eval mode, and its vocabulary.

    source: "tiny_llama", or a folder in the same layout.
    Raises FileNotFoundError for a missing file; ValueError for one that is damaged, cut off, or of another kind.
    """
    folder = DATA / str(source) if source in SHIPPED_MODELS else Path(source)
    for name in (_CONFIG, _TOKENIZER, _WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"There is no {name} in {str(folder)!r}. Give one of {SHIPPED_MODELS}, or a folder by save_model."
            )
    with torch.device("meta"):  # shapes without numbers: no random weights are drawn
        model = Transformer(_read_config(folder / _CONFIG))
    vocab = _read_vocab(folder / _TOKENIZER)
    if len(vocab) != model.config.vocab_size:
        raise ValueError(f"{folder}: {_TOKENIZER} has {len(vocab)} tokens, {_CONFIG} says {model.config.vocab_size}.")
    _load_weights(model, folder / _WEIGHTS)
    return model.eval(), vocab


def fingerprint(model: nn.Module, vocab: CharVocab) -> str:
    """The sha256 of shape, weights and vocabulary: equal for equal models, whatever their files are called.

    A planned model (`fast_decode`) has the fingerprint of the model that it was planned from.
    """
    model = getattr(model, "planned_from", model)
    shape = getattr(model, "config", type(model).__name__)
    digest = hashlib.sha256("\n".join([repr(shape), *vocab.tokens]).encode("utf-8"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _load_weights(model: Transformer, path: Path) -> None:
    """Give the model the file's tensors, as float32; ValueError if one is missing, unknown or of another shape."""
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is damaged or not a safetensors file ({error}). Copy or save it again.") from None
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    if model.config.tie_embeddings:
        del expected[_HEAD]
    for what, names in (
        ("lacks", expected.keys() - tensors.keys()),
        ("has the unknown", tensors.keys() - expected.keys()),
    ):
        if names:
            raise ValueError(f"{path} {what} {min(names)!r}. It does not belong to the {_CONFIG} beside it.")
    for name, shape in expected.items():
        if (given := tuple(tensors[name].shape)) != shape:
            raise ValueError(f"{path}: {name} has the shape {given}; {_CONFIG} asks for {shape}.")
    weights = {name: nn.Parameter(tensor.float().contiguous()) for name, tensor in tensors.items()}
    if model.config.tie_embeddings:
        weights[_HEAD] = weights[_EMBEDDING]
    model.load_state_dict(weights, assign=True)


_NAMES = {
    "vocab_size": "vocab_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_kv_head": "num_key_value_heads",
    "n_embd": "hidden_size",
    "n_inner": "intermediate_size",
    "block_size": "max_position_embeddings",
    "tie_embeddings": "tie_word_embeddings",
    "norm_eps": "rms_norm_eps",
}


def _config_to_json(config: TransformerConfig, vocab: CharVocab) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        **{theirs: getattr(config, ours) for ours, theirs in _NAMES.items()},
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "rope_theta": config.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_theta},
        "attention_bias": False,
        "mlp_bias": False,
        "dtype": "float32",
        "bos_token_id": vocab.bos_id,
        "eos_token_id": vocab.eos_id,
        "pad_token_id": vocab.pad_id,
    }


def _read_config(path: Path) -> TransformerConfig:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no JSON, or no UTF-8
        raise ValueError(f"{path} is damaged: {error}. Copy or save it again.") from None
    if not isinstance(read, dict) or read.get("model_type") != "llama":
        kind = read.get("model_type") if isinstance(read, dict) else type(read).__name__
        raise ValueError(f"{path}: model_type is {kind!r}; only 'llama' can be loaded.")
    missing = [theirs for theirs in _NAMES.values() if theirs not in read]
    if missing:
        raise ValueError(f"{path} lacks {missing[0]!r}. Save the model again.")
    rope = {"rope_type": "default"} | (read.get("rope_parameters") or read.get("rope_scaling") or {})
    plain = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    variants = {name: read[name] for name, value in plain.items() if read.get(name, value) != value}
    if rope["rope_type"] != "default":
        variants["rope_type"] = rope["rope_type"]
    config = TransformerConfig(
        **{ours: read[theirs] for ours, theirs in _NAMES.items()},
        rope_theta=rope.get("rope_theta", read.get("rope_theta", 10000.0)),
    )
    if read.get("head_dim") not in (None, config.head_dim):
        variants["head_dim"] = read["head_dim"]
    if variants:
        raise ValueError(f"{path}: {variants} is not supported; only a plain Llama can be loaded.")
    return config


def _tokenizer(vocab: CharVocab) -> Tokenizer:
    """The vocabulary as a tokenizer whose words are single characters; the specials are found first."""
    # The library asks for an unknown token. We have none: transformers reads a character that is unknown here as <pad>.
    tokenizer = Tokenizer(models.WordLevel(dict(vocab.ids), unk_token=PAD))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, vocab.bos_id)]
    )
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(list(SPECIALS))
    return tokenizer


def _read_vocab(path: Path) -> CharVocab:
    try:
        ids = Tokenizer.from_file(str(path)).get_vocab()
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path} is damaged or no tokenizer file ({error}). Copy or save it again.") from None
    tokens = sorted(ids, key=ids.get)
    if tuple(tokens[: len(SPECIALS)]) != SPECIALS or [ids[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError(f"{path} is no character vocabulary of this course, which begins with {SPECIALS}.")
    return CharVocab(tokens[len(SPECIALS) :])


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)

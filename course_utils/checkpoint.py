"""A model and its vocabulary on disk, in the layout that Hugging Face transformers, vLLM and others read.

A folder holds `config.json`, `model.safetensors` and `tokenizer.json`: text and plain numbers, never pickled code. The
package stores projections fused and rotary pairs side by side; the layout wants them apart and by halves. Both ways
are exact: only rows of the matrices move.
"""

import hashlib
import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from course_utils.text import BOS, DATA, PAD, SPECIALS, CharVocab
from course_utils.transformer import Transformer, TransformerConfig

SHIPPED_MODELS = ("tiny_llama",)
_CONFIG, _WEIGHTS, _TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


def save_model(model: Transformer, vocab: CharVocab, folder: str | Path) -> None:
    """Write the three files; a folder that has them already gets the new ones, each replaced whole."""
    if len(vocab) != model.config.vocab_size:
        raise ValueError(f"The vocabulary has {len(vocab)} tokens, the model {model.config.vocab_size}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / _CONFIG, json.dumps(_config_to_json(model.config, vocab), indent=2) + "\n")
    _write(folder / _TOKENIZER, json.dumps(_vocab_to_json(vocab), indent=1, ensure_ascii=False) + "\n")
    temporary = folder / (_WEIGHTS + ".part")
    save_file(_apart(model), temporary, metadata={"format": "pt"})
    temporary.replace(folder / _WEIGHTS)


def load_model(source: str | Path) -> tuple[Transformer, CharVocab]:
    """The model, in eval mode, and its vocabulary.

    source: "tiny_llama", or a folder in the same layout.
    Raises FileNotFoundError for a missing file; ValueError for one that is damaged, cut off, or of another kind.
    """
    folder = DATA / str(source) if source in SHIPPED_MODELS else Path(source)
    for name in (_CONFIG, _TOKENIZER, _WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"There is no {name} in {str(folder)!r}. Give a folder that save_model wrote, or one of {SHIPPED_MODELS}."
            )
    model = Transformer(_config_from_json(_read_json(folder / _CONFIG), folder / _CONFIG))
    vocab = _vocab_from_json(_read_json(folder / _TOKENIZER), folder / _TOKENIZER)
    if len(vocab) != model.config.vocab_size:
        raise ValueError(f"{folder}: {_TOKENIZER} has {len(vocab)} tokens, {_CONFIG} says {model.config.vocab_size}.")
    try:
        tensors = load_file(folder / _WEIGHTS)
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(
            f"{folder / _WEIGHTS} is damaged or no safetensors file ({error}). Copy or save it again."
        ) from None
    _put_together(model, tensors, folder / _WEIGHTS)
    return model.eval(), vocab


def fingerprint(model: torch.nn.Module, vocab: CharVocab) -> str:
    """The sha256 of the weights and the vocabulary: equal for equal models, whatever their files are called."""
    digest = hashlib.sha256("\n".join(vocab.tokens).encode("utf-8"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


# --- weights -----------------------------------------------------------------------------------------------------------


def _by_halves(weight: Tensor, head_dim: int) -> Tensor:
    """Rows of each head from pairs (0, 1), (2, 3), … to halves: first all even ones, then all odd ones."""
    return weight.unflatten(0, (-1, head_dim // 2, 2)).transpose(1, 2).flatten(0, 2).contiguous()


def _by_pairs(weight: Tensor, head_dim: int) -> Tensor:
    """The way back."""
    return weight.unflatten(0, (-1, 2, head_dim // 2)).transpose(1, 2).flatten(0, 2).contiguous()


def _apart(model: Transformer) -> dict[str, Tensor]:
    """The weights under the layout's names, each with storage of its own."""
    config = model.config
    D, n_query, n_key = config.head_dim, config.n_head * config.head_dim, config.n_kv_head * config.head_dim
    tensors = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.norm.weight}
    if not config.tie_embeddings:
        tensors["lm_head.weight"] = model.head.weight
    for index, layer in enumerate(model.layers):
        q, k, v = layer.attention.qkv.weight.split([n_query, n_key, n_key])
        gate, up = layer.feed_forward.gate_and_up.weight.chunk(2)
        parts = {
            "self_attn.q_proj": _by_halves(q, D),
            "self_attn.k_proj": _by_halves(k, D),
            "self_attn.v_proj": v,
            "self_attn.o_proj": layer.attention.out.weight,
            "mlp.gate_proj": gate,
            "mlp.up_proj": up,
            "mlp.down_proj": layer.feed_forward.down.weight,
            "input_layernorm": layer.attention_norm.weight,
            "post_attention_layernorm": layer.feed_forward_norm.weight,
        }
        tensors |= {f"model.layers.{index}.{name}.weight": part for name, part in parts.items()}
    return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def _put_together(model: Transformer, tensors: dict[str, Tensor], path: Path) -> None:
    """Copy the layout's tensors into the model; ValueError if any is missing, unknown or of another shape."""
    wanted = {name: tensor.shape for name, tensor in _apart(model).items()}
    for what, names in (("lacks", wanted.keys() - tensors.keys()), ("has the unknown", tensors.keys() - wanted.keys())):
        if names:
            raise ValueError(f"{path} {what} {min(names)!r}. It does not belong to the {_CONFIG} beside it.")
    for name, shape in wanted.items():
        if tensors[name].shape != shape:
            raise ValueError(
                f"{path}: {name} has shape {tuple(tensors[name].shape)}; {_CONFIG} asks for {tuple(shape)}."
            )
    D = model.config.head_dim
    with torch.no_grad():
        model.embedding.weight.copy_(tensors["model.embed_tokens.weight"])
        model.norm.weight.copy_(tensors["model.norm.weight"])
        if not model.config.tie_embeddings:
            model.head.weight.copy_(tensors["lm_head.weight"])
        for index, layer in enumerate(model.layers):
            part = {name: tensors[f"model.layers.{index}.{name}.weight"] for name in (
                "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
                "mlp.up_proj", "mlp.down_proj", "input_layernorm", "post_attention_layernorm")}  # fmt: skip
            q, k = (_by_pairs(part[f"self_attn.{letter}_proj"], D) for letter in "qk")
            layer.attention.qkv.weight.copy_(torch.cat([q, k, part["self_attn.v_proj"]]))
            layer.attention.out.weight.copy_(part["self_attn.o_proj"])
            layer.feed_forward.gate_and_up.weight.copy_(torch.cat([part["mlp.gate_proj"], part["mlp.up_proj"]]))
            layer.feed_forward.down.weight.copy_(part["mlp.down_proj"])
            layer.attention_norm.weight.copy_(part["input_layernorm"])
            layer.feed_forward_norm.weight.copy_(part["post_attention_layernorm"])


# --- config and vocabulary ---------------------------------------------------------------------------------------------

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


def _config_to_json(config: TransformerConfig, vocab: CharVocab) -> dict:
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


def _config_from_json(read: dict, path: Path) -> TransformerConfig:
    if not isinstance(read, dict) or read.get("model_type") != "llama":
        kind = read.get("model_type") if isinstance(read, dict) else type(read).__name__
        raise ValueError(f"{path}: model_type is {kind!r}; only 'llama' can be loaded.")
    missing = [theirs for theirs in _NAMES.values() if theirs not in read]
    if missing:
        raise ValueError(f"{path} lacks {missing[0]!r}. Save the model again.")
    rope = read.get("rope_parameters") or {}
    fixed = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    wrong = {name: read[name] for name, value in fixed.items() if read.get(name, value) != value}
    if rope.get("rope_type", "default") != "default" or read.get("rope_scaling"):
        wrong["rope_type"] = rope.get("rope_type", read.get("rope_scaling"))
    if (
        read.get("head_dim", read["hidden_size"] // read["num_attention_heads"]) * read["num_attention_heads"]
        != read["hidden_size"]
    ):
        wrong["head_dim"] = read["head_dim"]
    if wrong:
        raise ValueError(f"{path}: {wrong} is not supported; this is a plain Llama without these variants.")
    theta = rope.get("rope_theta", read.get("rope_theta", 10000.0))
    return TransformerConfig(**{ours: read[theirs] for ours, theirs in _NAMES.items()}, rope_theta=theta)


def _vocab_to_json(vocab: CharVocab) -> dict:
    """A word-level tokenizer whose words are single characters, with the specials found first."""
    added = [
        {"id": vocab.ids[special], "content": special, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True} for special in SPECIALS
    ]  # fmt: skip
    split = {"type": "Split", "pattern": {"Regex": "(?s)."}, "behavior": "Isolated", "invert": False}
    begin = [{"SpecialToken": {"id": BOS, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": split,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": begin,
            "pair": [*begin, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {BOS: {"id": BOS, "ids": [vocab.bos_id], "tokens": [BOS]}},
        },
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": dict(vocab.ids), "unk_token": PAD},
    }


def _vocab_from_json(read: dict, path: Path) -> CharVocab:
    try:
        ids = read["model"]["vocab"]
        tokens = sorted(ids, key=ids.get)
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} holds no vocabulary. Save the model again.") from None
    if tuple(tokens[: len(SPECIALS)]) != SPECIALS or [ids[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError(f"{path} is not a character vocabulary of this course, which begins with {SPECIALS}.")
    return CharVocab(tokens[len(SPECIALS) :])


def _read_json(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is no JSON: {error}. Copy or save it again.") from None


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)

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
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from torch import Tensor

from course_utils.text import BOS, DATA, EOS, PAD, SPECIALS, CharVocab
from course_utils.transformer import Transformer, TransformerConfig

SHIPPED_MODELS = ("tiny_llama",)
_CONFIG, _WEIGHTS, _TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
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
    tensors = {name: view.reshape(_stored_shape(view)).clone() for name, view in _views(model).items()}
    save_file(tensors, temporary, metadata={"format": "pt"})
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
                f"There is no {name} in {str(folder)!r}. Give one of {SHIPPED_MODELS}, or a folder by save_model."
            )
    with torch.random.fork_rng(devices=[]):  # the weights that it draws first are replaced below
        model = Transformer(_read_config(folder / _CONFIG))
    vocab = _read_vocab(folder / _TOKENIZER)
    if len(vocab) != model.config.vocab_size:
        raise ValueError(f"{folder}: {_TOKENIZER} has {len(vocab)} tokens, {_CONFIG} says {model.config.vocab_size}.")
    try:
        tensors = load_file(folder / _WEIGHTS)
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(
            f"{folder / _WEIGHTS} is damaged or no safetensors file ({error}). Copy or save it again."
        ) from None
    _fill(model, tensors, folder / _WEIGHTS)
    return model.eval(), vocab


def fingerprint(model: torch.nn.Module, vocab: CharVocab) -> str:
    """The sha256 of shape, weights and vocabulary: equal for equal models, whatever their files are called."""
    shape = getattr(model, "config", type(model).__name__)
    digest = hashlib.sha256("\n".join([repr(shape), *vocab.tokens]).encode("utf-8"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _views(model: Transformer) -> dict[str, Tensor]:
    """The layout's tensors as views into the model's weights: reading one gives what is stored, writing one sets it.

    The layout keeps queries, keys and values apart, and a head's rotary pairs as two halves: first all even rows, then
    all odd ones. Such a view has more than two axes; flattened to rows it is the layout's matrix.
    """
    config = model.config
    D, n_query, n_key = config.head_dim, config.n_head * config.head_dim, config.n_kv_head * config.head_dim

    def by_halves(rows: Tensor) -> Tensor:
        return rows.unflatten(0, (-1, D // 2, 2)).transpose(1, 2)

    views = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.gain}
    if not config.tie_embeddings:
        views["lm_head.weight"] = model.head.weight
    for index, layer in enumerate(model.layers):
        q, k, v = layer.qkv.split([n_query, n_key, n_key])
        gate, up = layer.gate_and_up.chunk(2)
        parts = {
            "self_attn.q_proj": by_halves(q),
            "self_attn.k_proj": by_halves(k),
            "self_attn.v_proj": v,
            "self_attn.o_proj": layer.out,
            "mlp.gate_proj": gate,
            "mlp.up_proj": up,
            "mlp.down_proj": layer.down,
            "input_layernorm": layer.attention_gain,
            "post_attention_layernorm": layer.feed_forward_gain,
        }
        views |= {f"model.layers.{index}.{name}.weight": part for name, part in parts.items()}
    return {name: view.detach() for name, view in views.items()}


def _stored_shape(view: Tensor) -> tuple[int, ...]:
    return tuple(view.shape) if view.ndim <= 2 else (view.shape[:-1].numel(), view.shape[-1])


def _fill(model: Transformer, tensors: dict[str, Tensor], path: Path) -> None:
    """Copy the layout's tensors into the model; ValueError if any is missing, unknown or of another shape."""
    views = _views(model)
    for what, names in (("lacks", views.keys() - tensors.keys()), ("has the unknown", tensors.keys() - views.keys())):
        if names:
            raise ValueError(f"{path} {what} {min(names)!r}. It does not belong to the {_CONFIG} beside it.")
    for name, view in views.items():
        if tensors[name].shape != _stored_shape(view):
            given = tuple(tensors[name].shape)
            raise ValueError(f"{path}: {name} has shape {given}; {_CONFIG} asks for {_stored_shape(view)}.")
    for name, view in views.items():
        view.copy_(tensors[name].view(view.shape))


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

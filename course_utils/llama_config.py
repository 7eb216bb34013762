"""A model's `config.json` in the layout of transformers' LlamaForCausalLM: written, and read from any program.

A file by another program may say a thing under an older name, twice, or as the wrong kind of value. What is read here
means what it means to transformers; all else is refused by file, entry and value. No entry gets a default in silence.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_utils.protocols import Vocabulary
from course_utils.transformer import TransformerConfig

_SIZES = {
    "vocab_size": "vocab_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_kv_head": "num_key_value_heads",
    "n_embd": "hidden_size",
    "n_inner": "intermediate_size",
    "block_size": "max_position_embeddings",
}
_NAMES = _SIZES | {"tie_embeddings": "tie_word_embeddings", "norm_eps": "rms_norm_eps"}
_MOST_ANGLES = 2**27  # positions × dimensions of a head: as float32, cosines and sines take 1 GiB


def config_to_json(config: TransformerConfig, vocab: Vocabulary, dtype: str) -> dict[str, Any]:
    """What the file says of a model. dtype: of the stored weights, such as "float32"."""
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
        "dtype": dtype,
        "bos_token_id": vocab.bos_id,
        "eos_token_id": vocab.eos_id,
        "pad_token_id": vocab.pad_id,
    }


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises ValueError if it is damaged, or has a key twice: JSON has no rule for that."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or thousands of brackets
        raise ValueError(f"{path} is damaged: {error}. Copy or save it again.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the entry {next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return found


def read_config(path: Path) -> TransformerConfig:
    """The shape of the model that a `config.json` describes.

    Raises ValueError for a file that is damaged, describes another kind of model, or lacks an entry, and for an entry
    that is of the wrong type, contradicts another one, or asks for what a plain Llama does not have.
    """
    read = read_json(path)
    if not isinstance(read, dict) or read.get("model_type") != "llama":
        kind = read.get("model_type") if isinstance(read, dict) else type(read).__name__
        raise ValueError(f"{path}: model_type is {kind!r}; only 'llama' can be loaded.")
    if missing := [theirs for theirs in _NAMES.values() if theirs not in read]:
        raise ValueError(
            f"{path} lacks {missing[0]!r}. Save the model again, or write the entry that it was made with."
        )
    try:
        _refuse_variants(read)
        settings: dict[str, Any] = {ours: _size(theirs, read[theirs]) for ours, theirs in _SIZES.items()}
        settings["norm_eps"] = _positive("rms_norm_eps", read["rms_norm_eps"])
        settings["rope_theta"] = _rope_theta(read)
        if not isinstance(tied := read["tie_word_embeddings"], bool):
            raise ValueError(f"tie_word_embeddings is {tied!r}; expected true or false.")
        config = TransformerConfig(**settings, tie_embeddings=tied)
        if read.get("head_dim") not in (None, config.head_dim):
            raise ValueError(
                f"head_dim is {read['head_dim']!r}; only hidden_size / num_attention_heads = {config.head_dim} is "
                f"supported."
            )
        if config.block_size * config.head_dim > _MOST_ANGLES:
            most = _MOST_ANGLES // config.head_dim
            raise ValueError(f"max_position_embeddings is {config.block_size}; expected at most {most}.")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return config


def _refuse_variants(read: Mapping[str, Any]) -> None:
    for name, value in {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}.items():
        if (given := read.get(name, value)) != value or type(given) is not type(value):
            raise ValueError(
                f"{name} is {given!r}, which is not supported; only a plain Llama, {value!r}, can be loaded."
            )
    if read.get("quantization_config") is not None:
        raise ValueError(
            "quantization_config says that the weights are quantised; only floating-point ones can be read."
        )


def _rope_theta(read: Mapping[str, Any]) -> float:
    """The base of the rotary angles. It may stand in two places, and an older key may say that angles are scaled."""
    found = {} if read.get("rope_theta") is None else {"rope_theta": read["rope_theta"]}
    for source in ("rope_parameters", "rope_scaling"):
        rope = read.get(source)
        if rope is None:
            continue
        if not isinstance(rope, dict):
            raise ValueError(f"{source} is {rope!r}; expected an object with rope_type and rope_theta, or null.")
        for key in ("rope_type", "type"):
            if rope.get(key, "default") != "default":
                raise ValueError(f"{source} has {key} {rope[key]!r}, which is not supported; only 'default' is.")
        for key, value in rope.items():
            if key not in ("rope_type", "type", "rope_theta") and not (key == "partial_rotary_factor" and value == 1):
                raise ValueError(f"{source} has {key} {value!r}, which is not supported; only rope_theta is.")
        if "rope_theta" in rope:
            found[f"rope_theta in {source}"] = rope["rope_theta"]
    if read.get("partial_rotary_factor") not in (None, 1):
        raise ValueError(f"partial_rotary_factor is {read['partial_rotary_factor']!r}; only 1 is supported.")
    values = {name: _positive(name, value) for name, value in found.items()}
    if len(set(values.values())) > 1:
        said = ", ".join(f"{name} is {value}" for name, value in values.items())
        raise ValueError(f"{said}. Expected one value: correct the file.")
    if not values:
        raise ValueError("there is no rope_theta. Write the entry that the model was trained with; Llama 2's is 10000.")
    return next(iter(values.values()))


def _size(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < 2**31:
        raise ValueError(f"{name} is {_said(value)}; expected an integer of at least 1.")
    return value


def _positive(name: str, value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(f"{name} is {_said(value)}; expected a number, not a text or null.")
    if not 0 < value <= sys.float_info.max:
        raise ValueError(f"{name} is {_said(value)}; expected a number above 0.")
    return float(value)


def _said(value: object) -> str:
    return "null" if value is None else repr(value)[:80]

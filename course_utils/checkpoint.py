"""A model and its vocabulary on disk, in the layout that Hugging Face transformers, vLLM and others read.

A folder holds `config.json`, `model.safetensors` and `tokenizer.json`: text and plain numbers, never pickled code. The
file of weights is the model's `state_dict`, whose names are those of the layout; a tied head is left out of it.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from torch import Tensor, nn

from course_utils.arguments import as_path
from course_utils.llama_config import config_to_json, read_config, read_json
from course_utils.protocols import NamedVocabulary
from course_utils.text import BOS, DATA, EOS, PAD, SPECIALS, CharVocab
from course_utils.transformer import Transformer

SHIPPED_MODELS = ("tiny_llama",)
_CONFIG, _WEIGHTS, _TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
_INDEX = "model.safetensors.index.json"  # says which file holds which tensor, where there are several
_EMBEDDING, _HEAD = "model.embed_tokens.weight", "lm_head.weight"  # one and the same where they are tied
_TOKENIZER_CONFIG = "tokenizer_config.json"  # for transformers, which wants to be told which specials mean what
_GENERATION = "generation_config.json"  # for servers: the settings of a request that says nothing
_FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


def save_model(model: Transformer, vocab: CharVocab, folder: str | Path) -> None:
    """Write the folder; in one that has these files already, each is replaced whole.

    folder: ~ is the home folder. The numbers keep their type, such as bfloat16. `generation_config.json` makes servers
        sample at T = 1 unless a request says otherwise; without it transformers would be greedy.
    Raises ValueError if model and vocabulary differ in size, or the folder is a file; TypeError for another kind of
    model or vocabulary, which the layout cannot hold.
    """
    if not isinstance(model, Transformer) or not isinstance(vocab, CharVocab):
        given = f"{type(model).__name__} and a {type(vocab).__name__}"
        raise TypeError(f"save_model was given a {given}; expected a Transformer and a CharVocab.")
    if len(vocab) != model.config.vocab_size:
        raise ValueError(f"The vocabulary has {len(vocab)} tokens, the model {model.config.vocab_size}.")
    folder = as_path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; expected a folder. Give another name.")
    folder.mkdir(parents=True, exist_ok=True)
    dtype = str(model.lm_head.weight.dtype).removeprefix("torch.")
    names = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": BOS, "eos_token": EOS, "pad_token": PAD}
    ids = {"bos_token_id": vocab.bos_id, "eos_token_id": vocab.eos_id, "pad_token_id": vocab.pad_id}
    texts = {
        _CONFIG: json.dumps(config_to_json(model.config, vocab, dtype), indent=2),
        _TOKENIZER: _tokenizer(vocab).to_str(pretty=True),
        _TOKENIZER_CONFIG: json.dumps(names, indent=2),
        _GENERATION: json.dumps({"do_sample": True, "temperature": 1.0, **ids}, indent=2),
    }
    tensors = model.state_dict()
    if model.config.tie_embeddings:
        del tensors[_HEAD]
    parts = {folder / name: folder / f"{name}.part" for name in (*texts, _WEIGHTS)}
    try:  # all of them first, so that no full disk leaves a new vocabulary beside old weights
        for name, text in texts.items():
            parts[folder / name].write_text(text + "\n", encoding="utf-8", newline="\n")
        save_file(tensors, parts[folder / _WEIGHTS], metadata={"format": "pt"})
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


@torch.inference_mode(False)  # there tensors get no version counter, by which caches and records notice a change
def load_model(source: str | Path) -> tuple[Transformer, CharVocab]:
    """The model, in eval mode, its weights as float32, and its vocabulary.

    source: "tiny_llama", or a folder in the same layout, in which ~ is the home folder. A folder by transformers is
        read as well, with the vocabulary's `tokenizer.json` laid beside it. Which ids are specials is the
        vocabulary's to say; what `config.json` says of them is not read.
    Raises FileNotFoundError for a missing file; ValueError for one that is damaged, cut off, or of another kind, for
    what is not a plain Llama, and for a name that means the shipped model as well as a folder.
    """
    folder = _folder_of(source)
    for name in (_CONFIG, _TOKENIZER):
        if not (folder / name).is_file():
            raise _missing(folder, name)
    config, vocab = read_config(folder / _CONFIG), _read_vocab(folder / _TOKENIZER)
    if len(vocab) != config.vocab_size:
        raise ValueError(f"{folder}: {_TOKENIZER} has {len(vocab)} tokens, {_CONFIG} says {config.vocab_size}.")
    path, tensors = _read_tensors(folder)
    with torch.device("meta"):  # shapes without numbers: no random weights are drawn
        model = Transformer(
            replace(config, n_layer=max(1, min(config.n_layer, len(tensors))))
        )  # no more can be in the file
    _fill(model, tensors, path)
    return model.eval(), vocab


def _folder_of(source: str | Path) -> Path:
    folder = as_path(source)
    if source not in SHIPPED_MODELS:
        return folder
    shipped = DATA / str(source)
    if folder.is_dir() and not folder.samefile(shipped):
        raise ValueError(
            f"{source!r} is the course's model, and a folder of that name is in the working folder. For the folder "
            f"give './{source}'; for the course's model rename the folder."
        )
    return shipped


def _missing(folder: Path, name: str) -> FileNotFoundError:
    advice = f"Give one of {SHIPPED_MODELS}, or a folder by save_model."
    if any(folder.glob("pytorch_model*.bin")):
        advice = "Its pytorch_model.bin holds pickled code, which is not read: save it again as safetensors."
    return FileNotFoundError(f"There is no {name} in {str(folder)!r}. {advice}")


def fingerprint(model: Any, vocab: NamedVocabulary) -> str:
    """The sha256 of shape, weights and vocabulary: equal for equal models, whatever their files are called.

    model: a torch module, or what has a `state_dict` as one has; then the name of its class counts as well. A planned
        model (`fast_decode`) has the fingerprint of the model that it was planned from.
    Raises TypeError for a model that does not show its weights, such as a hand-made mock.
    """
    model = getattr(model, "planned_from", model)
    if not hasattr(model, "state_dict"):
        raise TypeError(f"model is a {type(model).__name__}, which shows no weights; expected one with a state_dict().")
    shape = repr(getattr(model, "config", type(model).__name__))
    kind = [] if isinstance(model, nn.Module) else [type(model).__name__]
    digest = hashlib.sha256("\n".join([*kind, shape, *vocab.tokens]).encode("utf-8"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _read_tensors(folder: Path) -> tuple[Path, dict[str, Tensor]]:
    """The tensors by name, and the file that they come from or, if they come from several, the index of these."""
    single, index = folder / _WEIGHTS, folder / _INDEX
    if single.is_file() and index.is_file():
        raise ValueError(f"{folder} has {_WEIGHTS} and {_INDEX}, two sources of weights. Remove the one that is old.")
    if not index.is_file():
        if not single.is_file():
            raise _missing(folder, _WEIGHTS)
        return single, _load_file(single)
    listed = read_json(index)
    places = listed.get("weight_map") if isinstance(listed, dict) else None
    if not isinstance(places, dict) or not all(isinstance(place, str) for place in places.values()):
        raise ValueError(f"{index} has no weight_map, the file of each tensor. Save the model again.")
    tensors: dict[str, Tensor] = {}
    for place in sorted(set(places.values())):
        if Path(place).name != place or not place.endswith(".safetensors"):
            raise ValueError(f"{index} names the file {place!r}; expected a .safetensors file in the same folder.")
        if not (folder / place).is_file():
            raise _missing(folder, place)
        found = _load_file(folder / place)
        if odd := [name for name in (found.keys() | places.keys()) if (places.get(name) == place) != (name in found)]:
            raise ValueError(f"{folder / place}: {min(odd)!r} is not where {_INDEX} says. Save the model again.")
        tensors |= found
    return index, tensors


def _load_file(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is damaged or not a safetensors file ({error}). Copy or save it again.") from None


def _fill(model: Transformer, tensors: dict[str, Tensor], path: Path) -> None:
    """Give the model the tensors, as float32. ValueError if one is missing, unknown, or of another shape or type."""
    tied = model.config.tie_embeddings
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    # Older files hold the angles' frequencies, which follow from the config; no number in them was learned.
    stored = {name: tensor for name, tensor in tensors.items() if not name.endswith("rotary_emb.inv_freq")}
    if tied:
        del expected[_HEAD]
        head = stored.pop(_HEAD, None)
        if head is not None and _EMBEDDING in stored and not torch.equal(head, stored[_EMBEDDING]):
            raise ValueError(
                f"{path}: {_HEAD} differs from {_EMBEDDING}, though {_CONFIG} says with tie_word_embeddings that they "
                f"are one. Correct the one that is wrong."
            )
    for what, names, advice in (
        ("lacks", expected.keys() - stored.keys(), "It does not belong to the config.json beside it, or was cut."),
        ("has the unknown", stored.keys() - expected.keys(), "A plain Llama as in the config.json beside it has none."),
    ):
        if names:
            raise ValueError(f"{path} {what} {min(names)!r}. {advice}")
    for name, shape in expected.items():
        if (given := tuple(stored[name].shape)) != shape:
            raise ValueError(f"{path}: {name} has the shape {given}; {_CONFIG} asks for {shape}.")
        if (dtype := stored[name].dtype) not in _FLOATS:
            raise ValueError(f"{path}: {name} is of {dtype}; expected {', '.join(map(str, _FLOATS))}, not quantised.")
    weights = {name: nn.Parameter(tensor.float().contiguous()) for name, tensor in stored.items()}
    if tied:
        weights[_HEAD] = weights[_EMBEDDING]
    model.load_state_dict(weights, assign=True)


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
    settings = read_json(path)
    parts = settings if isinstance(settings, dict) else {}
    # Another kind of tokenizer may spell bytes as characters, or change a text before it is read.
    kinds = [parts.get(name) for name in ("model", "normalizer", "pre_tokenizer")]
    types = [kind.get("type") if isinstance(kind, dict) else kind for kind in kinds]
    tokens: list[str] = []
    if types == ["WordLevel", None, "Split"]:
        try:
            ids = Tokenizer.from_file(str(path)).get_vocab()
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"{path} is damaged or no tokenizer file ({error}). Copy or save it again.") from None
        in_order = sorted(ids, key=ids.__getitem__)
        tokens = in_order if [ids[token] for token in in_order] == list(range(len(ids))) else []
    others = [token for token in tokens[len(SPECIALS) :] if len(token) != 1]
    if tuple(tokens[: len(SPECIALS)]) != SPECIALS or others:
        one = f" It has the token {others[0]!r}." if others else ""
        raise ValueError(
            f"{path} is no character vocabulary of this course, which begins with {SPECIALS} and has a token for each "
            f"character.{one} Lay the tokenizer.json that save_model wrote beside the weights."
        )
    return CharVocab(tokens[len(SPECIALS) :])

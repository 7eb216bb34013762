"""A byte-level vocabulary: tokens longer than characters, and characters longer than tokens.

Text becomes UTF-8 bytes, and frequent neighbours become one token, again and again (byte-pair encoding). So no
character is ever unknown; but a token may be a word, a letter, or a piece of an emoji that means nothing on its own.
The `tokenizers` library counts and merges; what a token's bytes are, and how they become text, is here.
"""

import codecs
import json
from collections.abc import Iterable, Sequence

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from course_utils.arguments import check_documents, check_integer, check_row
from course_utils.text import BOS, EOS, PAD, SPECIALS, VISIBLE

MIN_VOCAB_SIZE = len(SPECIALS) + 256  # every byte is a token


class BpeVocab:
    """A vocabulary of byte sequences, with the methods of `text.CharVocab` and the same specials, ids 0 to 6.

    tokens: one string for each id, in the spelling of the files that other libraries read: each byte is written as a
        visible character, a space as Ġ. `token_bytes` gives the bytes, `label` what can be read.
    Raises ValueError for a tokenizer whose ids do not give the text back: one that is not byte-level, lacks a byte, or
        changes the text (a normalizer, a space in front, dropout, a limit), and for an added token that takes the
        spaces beside it or the spelling of other bytes. The error names the setting or the token.
    Source: Sennrich et al. 2016, https://arxiv.org/abs/1508.07909; on bytes: Radford et al. 2019, GPT-2, section 2.2
    """

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        tokens = tuple(tokenizer.id_to_token(token_id) for token_id in range(tokenizer.get_vocab_size()))
        if tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(f"The tokenizer begins with {tokens[: len(SPECIALS)]}; expected {SPECIALS}.")
        self._bytes = _bytes_of(tokenizer, tokens)
        self.tokens = tuple(token for token in tokens if token is not None)  # all: an id without a token was refused
        self.ids = {token: token_id for token_id, token in enumerate(self.tokens)}
        self.bos_id, self.eos_id, self.pad_id = (self.ids[special] for special in (BOS, EOS, PAD))

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> "BpeVocab":
        """The vocabulary that the texts' most frequent neighbours make, the same in every run.

        texts: documents. vocab_size: how many tokens, at least MIN_VOCAB_SIZE: the specials and the 256 bytes. A small
            corpus runs out of pairs before a large vocabulary is full; then it is smaller.
        """
        texts = check_documents(texts, "texts")
        if check_integer("vocab_size", vocab_size, below=2**31) < MIN_VOCAB_SIZE:
            raise ValueError(f"vocab_size is {vocab_size}; expected at least {MIN_VOCAB_SIZE}, specials and bytes.")
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(SPECIALS),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator([_checked(text) for text in texts], trainer)
        return cls(tokenizer)

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BpeVocab) and self._tokenizer.to_str() == other._tokenizer.to_str()

    def __hash__(self) -> int:
        return hash(self.tokens)

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`, none added; specials that are written out are read as their ids.

        Every character can be encoded. Raises ValueError for half a surrogate pair, which is not a character.
        """
        return self._tokenizer.encode(_checked(text), add_special_tokens=False).ids

    def encode_array(self, text: str) -> np.ndarray:
        """As `encode`, but as int64 (T,)."""
        return np.array(self.encode(text), dtype=np.int64)

    def encode_documents(self, documents: Iterable[str]) -> np.ndarray:
        """One int64 (T,) stream of all documents, each as <bos>, its tokens, <eos>."""
        documents = check_documents(documents)
        if not documents:
            raise ValueError("There are no documents to encode.")
        return self.encode_array("".join(f"{BOS}{document}{EOS}" for document in documents))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token ids; specials are not shown, bytes that are not UTF-8 become U+FFFD, the replacement mark.

        Raises ValueError for an id outside the vocabulary.
        """
        decoder = self.decoder()
        return "".join([decoder.feed(token_id) for token_id in check_row("ids", ids)]) + decoder.flush()

    def decoder(self) -> "Utf8Decoder":
        """For text that comes token by token."""
        return Utf8Decoder(self)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes that a token stands for; none for a special. Errors as in `decode`."""
        if not 0 <= token_id < len(self):
            raise ValueError(f"Token id {token_id} is outside the vocabulary; expected 0 to {len(self) - 1}.")
        return self._bytes[token_id]

    def label(self, token_id: int) -> str:
        """The token as a picture can show it: spaces visible, and bytes that are not text on their own as <E6 9C>."""
        token = self.token_bytes(token_id)
        if token_id < len(SPECIALS):
            return self.tokens[token_id]
        try:
            return "".join(VISIBLE.get(character, character) for character in token.decode("utf-8"))
        except UnicodeDecodeError:
            return f"<{token.hex(' ').upper()}>"


class Utf8Decoder:
    """Text from tokens that may end within a character: what cannot be read yet waits for the next token.

    It waits only for bytes that can still become a character. So a stray byte, or a U+FFFD that was really written, is
    passed on at once.
    """

    def __init__(self, vocab: BpeVocab):
        self._vocab = vocab
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, token_id: int) -> str:
        """The text that this token completes. A special has none; no character goes on behind it."""
        return self._utf8.decode(self._vocab.token_bytes(token_id), final=token_id < len(SPECIALS))

    def flush(self) -> str:
        """What is left once the text has ended: one U+FFFD if the last character is not complete, else nothing."""
        return self._utf8.decode(b"", final=True)


def _bytes_of(tokenizer: Tokenizer, tokens: Sequence[str | None]) -> list[bytes]:
    """What each token stands for: nothing for a special, its text for an added token, else the bytes of its spelling.

    Raises ValueError as BpeVocab does.
    """
    settings = json.loads(tokenizer.to_str())
    _check_settings(settings)
    byte_of = {character: byte for byte, character in enumerate(_byte_characters())}
    if missing := byte_of.keys() - settings["model"]["vocab"].keys():
        raise ValueError(f"The tokenizer has no token for the byte {byte_of[min(missing)]:#04x}; expected all 256.")
    added = {entry["id"]: entry for entry in settings["added_tokens"]}
    meanings = []
    for token_id, token in enumerate(tokens):
        spelled = None
        if token is not None and set(token) <= byte_of.keys():
            spelled = bytes(byte_of[character] for character in token)
        if token is None or token_id not in added:  # None: no token has this id
            if spelled is None or token_id < len(SPECIALS):
                kind = "a byte-level token" if spelled is None else "an added token, so that it is found in a text"
                raise ValueError(f"Token {token_id} of the tokenizer is {token!r}; expected {kind}.")
            meanings.append(spelled)
            continue
        text = token.encode("utf-8")
        if added[token_id]["lstrip"] or added[token_id]["rstrip"]:
            raise ValueError(f"The added token {token!r} takes the spaces beside it: add it without lstrip and rstrip.")
        if token in settings["model"]["vocab"] and spelled != text:
            raise ValueError(f"The added token {token!r} is the spelling of other bytes too: leave it out.")
        meanings.append(b"" if token_id < len(SPECIALS) else text)
    return meanings


def _check_settings(settings: dict) -> None:
    """Refuse what would change a text on its way to ids and back. `settings` is what a tokenizer.json holds."""
    model, before = settings["model"], settings["pre_tokenizer"] or {"type": "none"}
    steps = before.get("pretokenizers", [before])
    lossless = [
        step["type"] for step in steps if step.get("behavior") != "Removed" and not step.get("add_prefix_space")
    ]
    byte_level = lossless.count("ByteLevel") == 1 and len(lossless) == len(steps)
    unwanted = {
        "model": None if model["type"] == "BPE" else model["type"],
        "pre_tokenizer": None if byte_level and set(lossless) <= {"ByteLevel", "Split", "Digits"} else before,
        **{name: settings[name] for name in ("normalizer", "truncation", "padding")},
        **{name: model.get(name) for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix")},
    }
    for name, value in unwanted.items():
        if value:
            raise ValueError(
                f"The tokenizer has the {name} {value}; expected a byte-level BPE that keeps every character."
            )


def _byte_characters() -> list[str]:
    """The character that stands for each byte: itself if it can be printed, else one from U+0100 on, in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def _checked(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"text is {text!r}; expected a str.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"The text holds half a surrogate pair (U+{ord(text[error.start]):04X}) at position {error.start}. It is "
            f"no character and cannot be written as UTF-8; remove it, or read the text again with the right encoding."
        ) from None
    return text

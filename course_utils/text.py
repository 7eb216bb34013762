"""Texts, documents and the character vocabulary: how text becomes token ids and comes back.

A *text* is a str. A *document* is a text with a beginning and an end: a tale, a sum, a paragraph.
Between documents stands a blank line, here and in the files of `data/`. This module does not know what the
documents say; `storyworld` does.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from course_utils.arguments import as_path, check_documents, check_flag, check_row
from course_utils.protocols import Vocabulary

DATA = Path(__file__).resolve().parent.parent / "data"
SHIPPED = ("tales", "sums", "calls")
SPLITS = ("train", "validation")

BOS, EOS, PAD = "<bos>", "<eos>", "<pad>"
SPECIALS = (BOS, EOS, PAD, "<call>", "</call>", "<result>", "</result>")
_SPECIAL = re.compile("(" + "|".join(re.escape(special) for special in SPECIALS) + ")")
VISIBLE = {"\n": "⏎", " ": "␣", "\t": "⇥"}


def load_documents(name: str, split: str = "train") -> list[str]:
    """The documents of one shipped kind ("tales", "sums", "calls") or of "all", in the order of the file.

    split: "train" or "validation"; no document is in both.
    Raises ValueError for another name or split.
    """
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}; expected one of {SPLITS}.")
    if name == "all":
        return [document for kind in SHIPPED for document in load_documents(kind, split)]
    if name not in SHIPPED:
        raise ValueError(f"name is {name!r}; expected one of {(*SHIPPED, 'all')}. For a file use load_text(path).")
    return split_documents(_read(DATA / f"{name}.{split}.txt"))


def load_text(source: str | Path, nfc: bool = False) -> str:
    r"""The text of a shipped kind (its training documents, joined by a blank line) or of a UTF-8 file.

    source: "tales", "sums", "calls", "all", or a path, in which ~ is the home folder. A byte order mark is dropped;
        line ends become \n.
    nfc: Unicode has two spellings of é: one character, or an e and a mark that stands over it. Without `nfc` the text
        keeps the spellings of the file, and the two are different tokens. With it a letter and its marks become one
        character wherever Unicode has that character (normalization form C), so that prompts are best composed too.
    Raises ValueError if the file is not UTF-8 (with the byte's offset), holds no text, or bears the name of a shipped
        kind, so that the name means two things.
    """
    if isinstance(source, str) and source in (*SHIPPED, "all"):
        if Path(source).is_file():
            raise ValueError(
                f"{source!r} is a text of the course, and a file of that name is in the working folder. For the file "
                f"give './{source}'; for the course's text rename the file, or use load_documents({source!r})."
            )
        return "\n\n".join(load_documents(source))
    nfc, text = check_flag("nfc", nfc), _read(as_path(source))
    return unicodedata.normalize("NFC", text) if nfc else text


def _read(path: Path) -> str:
    try:
        found = path.is_file()
    except OSError:  # too long for a path: a text, perhaps
        found = False
    if not found:
        raise FileNotFoundError(
            f"There is no file {str(path)[:200]!r}. Give a path to a UTF-8 text file, or one of {(*SHIPPED, 'all')}."
        )
    data = path.read_bytes()
    mark = b"\xef\xbb\xbf"
    start = len(mark) if data.startswith(mark) else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        hint = " It looks like UTF-16." if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data else ""
        raise ValueError(
            f"{path} is not UTF-8: byte {data[start + error.start]:#04x} at offset {start + error.start} "
            f"({error.reason}).{hint} Save the file as UTF-8 and load it again."
        ) from None
    if "\0" in text:  # half of an English text's bytes in UTF-16, and each of them is UTF-8
        raise ValueError(
            f"{path} is not UTF-8 text: it holds the character U+0000 at position {text.index(chr(0))}. It looks like "
            f"UTF-16 without a byte order mark. Save the file as UTF-8 and load it again."
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise ValueError(f"{path} is empty: it holds no text. Choose a file with some.")
    return text


def split_documents(text: str) -> list[str]:
    r"""The documents of a text: what stands between blank lines. Lines end at \n only.

    A line is blank if it holds white space only, in any script: the ideographic and the no-break space count as such.

    >>> split_documents("One.\nStill one.\n\nTwo.\n")
    ['One.\nStill one.', 'Two.']
    """
    if not isinstance(text, str):
        raise TypeError(f"text is of type {type(text).__name__}; expected a str.")
    documents: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            documents[-1].append(line)
        elif documents[-1]:
            documents.append([])
    return ["\n".join(lines) for lines in documents if lines]


class CharVocab:
    r"""A vocabulary with one id for each special and each character.

    The specials `<bos> <eos> <pad> <call> </call> <result> </result>` have the ids 0 to 6, in every
    vocabulary; the characters follow in the order of their code points. A special that is written out in a
    text is read as its one id. The vocabulary knows no unknown token: a character that it lacks is an error.

    >>> vocab = CharVocab.from_text("abba")
    >>> vocab.encode("ab<eos>"), vocab.decode([7, 8, 1])
    ([7, 8, 1], 'ab')
    """

    def __init__(self, characters: Sequence[str]):
        if len(set(characters)) != len(characters) or any(len(character) != 1 for character in characters):
            raise ValueError(f"characters is {characters!r}; expected single characters, each of them once.")
        self.characters = tuple(characters)
        self.tokens = (*SPECIALS, *self.characters)
        self.ids = {token: token_id for token_id, token in enumerate(self.tokens)}
        self.bos_id, self.eos_id, self.pad_id = (self.ids[special] for special in (BOS, EOS, PAD))
        codes = [ord(character) for character in self.characters]
        self._table = np.full(max(codes, default=0) + 2, -1, dtype=np.int64)  # the last entry stays -1
        self._table[codes] = range(len(SPECIALS), len(self.tokens))

    @classmethod
    def from_text(cls, text: str) -> "CharVocab":
        """The vocabulary of all characters in `text`. Raises ValueError if it is empty or holds a lone surrogate."""
        if not isinstance(text, str):
            raise TypeError(f"text is of type {type(text).__name__}; expected a str. Join documents to one text.")
        if not text:
            raise ValueError("The text is empty: an empty corpus has no characters to make a vocabulary from.")
        characters = set().union(*_SPECIAL.split(text)[::2])
        _code_points("".join(sorted(characters)), text)
        return cls(sorted(characters))

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CharVocab) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(self.tokens)

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`, none added.

        Raises ValueError for a character that the vocabulary lacks, or half a surrogate pair: which, and where.
        """
        return self.encode_array(text).tolist()

    def encode_array(self, text: str) -> np.ndarray:
        """As `encode`, but as int64 (T,): for long texts."""
        if not isinstance(text, str):
            raise TypeError(f"text is {text!r}; expected a str.")
        parts, position = [], 0
        for index, piece in enumerate(_SPECIAL.split(text)):
            if index % 2:  # the pattern's group: a special
                parts.append(np.array([self.ids[piece]]))
            else:
                codes = _code_points(piece, text, position)
                ids = self._table[np.minimum(codes, len(self._table) - 1)]
                if len(unseen := np.flatnonzero(ids < 0)):
                    raise ValueError(self._unseen(text, position + int(unseen[0])))
                parts.append(ids)
            position += len(piece)
        return np.concatenate(parts)

    def encode_documents(self, documents: Iterable[str]) -> np.ndarray:
        """One int64 (T,) stream of all documents, each as <bos>, its tokens, <eos>."""
        documents = check_documents(documents)
        if not documents:
            raise ValueError("There are no documents to encode.")
        return self.encode_array("".join(f"{BOS}{document}{EOS}" for document in documents))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token ids; specials are not shown. Raises ValueError for an id outside the vocabulary."""
        tokens = (self._token(token_id) for token_id in check_row("ids", ids))
        return "".join(token for token in tokens if token not in SPECIALS)

    def decoder(self) -> "TokenDecoder":
        """For text that comes token by token."""
        return TokenDecoder(self)

    def label(self, token_id: int) -> str:
        """The token as a picture can show it: newline, space and tab as visible signs. Errors as in `decode`."""
        token = self._token(token_id)
        return VISIBLE.get(token, token)

    def _token(self, token_id: int) -> str:
        if not 0 <= token_id < len(self):  # a negative index would silently count from the end
            raise ValueError(f"Token id {token_id} is outside the vocabulary; expected 0 to {len(self) - 1}.")
        return self.tokens[token_id]

    def _unseen(self, text: str, position: int) -> str:
        character = text[position]
        return (
            f"The character {character!r} (U+{ord(character):04X}) at position {position} was never seen in training. "
            f"Leave it out, or train on a text that has it. Known: {''.join(self.characters)!r}."
        )


class TokenDecoder:
    """Decodes token by token, for a vocabulary whose every token is whole characters; others bring their own."""

    def __init__(self, vocab: Vocabulary):
        self._vocab = vocab

    def feed(self, token_id: int) -> str:
        """The text that this token completes; "" for a special."""
        return self._vocab.decode([token_id])

    def flush(self) -> str:
        """What is left once the text has ended: nothing, since each token was shown at once."""
        return ""


def _code_points(piece: str, text: str, offset: int = 0) -> np.ndarray:
    """The code points of `piece`, which starts at `offset` of `text`. Refuses lone surrogates."""
    try:
        return np.frombuffer(piece.encode("utf-32-le"), dtype="<u4")
    except UnicodeEncodeError as error:
        code = ord(piece[error.start])
        position = text.index(chr(code), offset)
        raise ValueError(
            f"The text holds half a surrogate pair (U+{code:04X}) at position {position}. It is no character "
            f"and cannot be written as UTF-8; remove it, or read the text again with the right encoding."
        ) from None

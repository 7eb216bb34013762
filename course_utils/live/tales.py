"""The tales on which notebook 02 trains its bigram, as one string that needs no vocabulary.

The begin and the end of a tale are one character each. Their code points are smaller than any in the tales, so sorting
the characters gives the order of the notebooks' token ids.
"""

from pathlib import Path

BEGIN, END = "\x02", "\x03"
_FILE = Path(__file__).resolve().parent.parent.parent / "data" / "tales.train.txt"


def tales() -> str:
    """All training tales: BEGIN, a tale, END, BEGIN, the next tale, and so on."""
    text = _FILE.read_text(encoding="utf-8").strip("\n")
    return BEGIN + text.replace("\n\n", END + BEGIN) + END

"""Reading files on any system, cutting them into documents, and ids that come back as the same text."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from course_utils import text as text_module
from course_utils.text import SPECIALS, CharVocab, load_documents, load_text, split_documents

UTF8_BOM = b"\xef\xbb\xbf"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
# Also texts in which specials stand, whole or nearly.
MARKED_TEXTS = st.lists(TEXTS | st.sampled_from([*SPECIALS, "<", ">", "/", "<bo", "s>", "call>"])).map("".join)


def write(tmp_path, data: bytes):
    path = tmp_path / "corpus.txt"
    path.write_bytes(data)
    return path


# --- files


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\rb", "a\nb"),
        (b"a\nb", "a\nb"),
        (b"a\r\rb\r\n\rc\n\r", "a\n\nb\n\nc\n\n"),
        (UTF8_BOM + b"a\r\n", "a\n"),
    ],
)
def test_line_ends_of_every_system_become_newlines(tmp_path, data, text):
    loaded = load_text(write(tmp_path, data))
    assert loaded == text
    assert "\r" not in CharVocab.from_text(loaded).characters


def test_vocabulary_of_a_crlf_file_has_no_carriage_return(tmp_path):
    assert CharVocab.from_text(load_text(write(tmp_path, b"b\r\na"))).characters == ("\n", "a", "b")


@pytest.mark.parametrize("text", ["人之初,性本善。\n", "naïve “q”", "🚀👩‍👩‍👧\n", "a b\x0bc\n", "plain"])
@pytest.mark.parametrize("mark", [b"", UTF8_BOM])
def test_utf_8_with_and_without_a_byte_order_mark(tmp_path, text, mark):
    path = write(tmp_path, mark + text.encode("utf-8"))
    assert load_text(path) == load_text(str(path)) == text


def test_only_the_first_byte_order_mark_is_dropped(tmp_path):
    assert load_text(write(tmp_path, UTF8_BOM + "a\ufeffb".encode())) == "a\ufeffb"


@pytest.mark.parametrize(
    ("data", "byte", "offset"),
    [
        (b"ab\xffc", "0xff", 2),
        (UTF8_BOM + b"ab\xffc", "0xff", 5),  # an offset into the file, mark included
        ("naïve".encode("latin-1"), "0xef", 2),
        (b"a\xe4\xba", "0xe4", 1),  # cut off inside a character
        (b"ab\xed\xa0\xbd", "0xed", 2),  # half a surrogate pair, as UTF-8 never has it
        ("“q”".encode("cp1252"), "0x93", 0),
    ],
)
def test_a_file_that_is_not_utf_8_is_refused_with_the_byte_and_its_offset(tmp_path, data, byte, offset):
    with pytest.raises(ValueError, match=f"not UTF-8: byte {byte} at offset {offset} ") as error:
        load_text(write(tmp_path, data))
    assert "corpus.txt" in str(error.value) and "UTF-16" not in str(error.value)


def test_utf_16_is_named(tmp_path):
    for encoding in ("utf-16-le", "utf-16-be"):
        with pytest.raises(ValueError, match=r"offset 0 .*looks like UTF-16"):
            load_text(write(tmp_path, "\ufeffabc".encode(encoding)))


@pytest.mark.parametrize("text", ["Once upon.\n\nTwo.", "Naïve.\n\n一。", "一。\n二。"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_16_without_a_mark_is_named(tmp_path, text, encoding):
    with pytest.raises(ValueError, match=r"is not UTF-8.*looks like UTF-16"):
        load_text(write(tmp_path, text.encode(encoding)))


def test_composed_and_decomposed_characters_stay_apart_unless_nfc_is_asked_for(tmp_path):
    text = "caf\u00e9 cafe\u0301 \uac00 \u1100\u1161 ﬁ ½ x\u0323"
    path = write(tmp_path, text.encode())
    assert load_text(path) == text and len(CharVocab.from_text(text)) == len(CharVocab.from_text(load_text(path)))
    composed = load_text(path, nfc=True)
    assert composed == "café café 가 가 ﬁ ½ x\u0323"  # what no single character means keeps its mark
    assert load_text("tales", nfc=True) == load_text("tales")


def test_the_home_folder_may_be_written_as_in_a_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path, b"mine")
    assert load_text("~/corpus.txt") == load_text(Path("~") / "corpus.txt") == "mine"
    with pytest.raises(ValueError, match=r"'~nobody-of-this-name/a'.*no such home folder"):
        load_text("~nobody-of-this-name/a")
    for wrong in (None, 3, b"corpus.txt", ["tales"]):
        with pytest.raises(TypeError, match="The path is"):
            load_text(wrong)


def test_a_text_in_place_of_a_path_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file 'Once upon"):
        load_text("Once upon a time. " * 500)


def test_a_name_that_means_two_things_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tales").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"'tales' is a text of the course, and a file .* give './tales'"):
        load_text("tales")
    assert load_text("./tales") == load_text(tmp_path / "tales") == load_text(Path("tales")) == "mine"
    assert load_documents("tales")[0] in load_text("all")


@pytest.mark.parametrize("data", [b"", UTF8_BOM, b"\r\n", b" \n\t\n", UTF8_BOM + b"\r", "\u3000\n".encode()])
def test_a_file_without_text_is_refused(tmp_path, data):
    with pytest.raises(ValueError, match=r"corpus.txt is empty"):
        load_text(write(tmp_path, data))


def test_a_path_that_is_no_file_is_refused_with_what_to_give(tmp_path):
    for path in (tmp_path / "missing.txt", tmp_path, "tale"):
        with pytest.raises(FileNotFoundError, match=r"UTF-8 text file, or one of .*'tales'"):
            load_text(path)


def test_a_file_may_bear_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tales").write_bytes(b"mine")
    assert load_text("./tales") == "mine"


def test_files_are_read_as_utf_8_under_any_locale(tmp_path):
    path = write(tmp_path, "naïve “q”".encode())
    code = (
        "import locale, sys; from course_utils.text import load_text\n"
        "print(locale.getencoding(), ascii(load_text(sys.argv[1])))"
    )
    environment = os.environ | {"PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0"}
    output = subprocess.run(
        [sys.executable, "-c", code, str(path)], env=environment, capture_output=True, encoding="ascii", check=True
    ).stdout
    encoding, text = output.split(maxsplit=1)
    if sys.platform == "linux":  # elsewhere the locale is what the system says
        assert encoding.lower() not in ("utf-8", "utf8"), "this run could not have shown the fault"
    assert text.strip() == ascii("naïve “q”")


# --- documents


def test_documents_stand_between_blank_lines():
    text = "\n\nOne.\nStill one.\n\nTwo.\n \t\n\n  Three.\n\n\n\nFour.\n"
    assert split_documents(text) == ["One.\nStill one.", "Two.", "  Three.", "Four."]
    assert split_documents("") == split_documents("\n\n") == split_documents(" \n\n \n") == []


@pytest.mark.parametrize("blank", ["", " ", "\t", "\u3000", "\u00a0", "\x0c", "\u2003 \u202f", "\u2028", "\x1f"])
def test_a_line_of_white_space_in_any_script_is_blank(blank):
    assert split_documents(f"一。\n{blank}\n二。") == ["一。", "二。"]
    assert split_documents(f"{blank}\n{blank}\nOne.\nMore.\n{blank}\n\n Two.\n{blank}") == ["One.\nMore.", " Two."]


@given(st.text("ab\n \u3000\xa0\x0c\t", max_size=30))
def test_documents_are_the_runs_of_lines_that_are_not_blank(text):
    documents = split_documents(text)
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    assert [line for document in documents for line in document.split("\n")] == lines
    assert split_documents("\n\n".join(documents)) == documents
    n_runs = len([run for run in re.split(r"\n(?:\s*\n)+", "\n" + text + "\n") if run.strip()])
    assert len(documents) == n_runs


def test_lines_end_at_newlines_only():
    for mark in "\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85\r":
        document = f"a b{mark}c{mark}{mark}d"
        assert split_documents(f"{document}\n") == [document]
        assert split_documents(f"{document}\n\n{document}") == [document, document]


@given(st.lists(st.text("ab \n<\u2028").filter(lambda text: text.strip() and "\n\n" not in text)))
def test_documents_that_are_joined_come_back(pieces):
    documents = [line.strip("\n") for line in pieces]
    documents = [document for document in documents if not any(not line.strip() for line in document.split("\n"))]
    assert split_documents("\n\n".join(documents)) == documents


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    for kind in text_module.SHIPPED:
        for split in text_module.SPLITS:
            (tmp_path / f"{kind}.{split}.txt").write_bytes(f"{kind} {split} 1\n\n{kind} {split} 2\n".encode())
    monkeypatch.setattr(text_module, "DATA", tmp_path)


@pytest.mark.usefixtures("shipped")
def test_shipped_documents_by_kind_and_split():
    assert load_documents("sums") == ["sums train 1", "sums train 2"]
    assert load_documents("calls", split="validation") == ["calls validation 1", "calls validation 2"]
    assert load_documents("all", "validation") == [
        f"{kind} validation {i}" for kind in ("tales", "sums", "calls") for i in (1, 2)
    ]
    assert load_text("tales") == "tales train 1\n\ntales train 2"
    assert load_text("all").count("train") == 6 and "validation" not in load_text("all")


def test_an_unknown_name_or_split_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'poems'.*'tales', 'sums', 'calls', 'all'"):
        load_documents("poems")
    with pytest.raises(ValueError, match=r"'test'.*'train', 'validation'"):
        load_documents("tales", split="test")


# --- the vocabulary


def scan(text: str) -> list[str]:
    """The tokens of a text, read from the left: a special where one stands, else one character."""
    tokens = []
    while text:
        tokens.append(next((special for special in SPECIALS if text.startswith(special)), text[0]))
        text = text[len(tokens[-1]) :]
    return tokens


@given(TEXTS.filter(len))
def test_text_comes_back_from_its_ids(text):
    assume(not any(special in text for special in SPECIALS))  # these are the next test's
    vocab = CharVocab.from_text(text)
    ids = vocab.encode(text)
    assert vocab.decode(ids) == text
    assert len(ids) == len(text) and all(type(token_id) is int for token_id in ids)


@given(MARKED_TEXTS.filter(len))
def test_specials_are_one_id_each_and_are_not_shown(text):
    vocab, tokens = CharVocab.from_text(text), scan(text)
    assert [vocab.tokens[token_id] for token_id in vocab.encode(text)] == tokens
    assert vocab.decode(vocab.encode(text)) == "".join(token for token in tokens if token not in SPECIALS)
    assert vocab.characters == tuple(sorted({token for token in tokens if token not in SPECIALS}))


def test_ids_are_those_that_the_docstring_promises():
    vocab = CharVocab.from_text("ba😀人<call>1</call>")
    assert SPECIALS == ("<bos>", "<eos>", "<pad>", "<call>", "</call>", "<result>", "</result>")
    assert vocab.encode("".join(SPECIALS)) == [0, 1, 2, 3, 4, 5, 6]
    assert (vocab.bos_id, vocab.eos_id, vocab.pad_id) == (0, 1, 2)
    assert vocab.characters == ("1", "a", "b", "人", "😀")  # in the order of code points
    assert vocab.encode("1ab人😀") == [7, 8, 9, 10, 11] and len(vocab) == 12
    assert vocab.encode("") == [] and vocab.encode_array("").dtype == np.int64


def test_a_text_of_specials_only_has_a_vocabulary():
    vocab = CharVocab.from_text("<bos><eos>")
    assert len(vocab) == 7 and vocab.encode("<eos><pad>") == [1, 2]
    with pytest.raises(ValueError, match=r"'a'.*position 0"):
        vocab.encode("a")


def test_encode_array_is_encode():
    vocab = CharVocab.from_text("a人😀<")
    text = "😀a<eos>人<eo"[:-2]
    array = vocab.encode_array(text)
    assert array.dtype == np.int64 and array.tolist() == vocab.encode(text)


@pytest.mark.parametrize(
    ("text", "character", "position"),
    [
        ("abd", "'d' \\(U\\+0064\\)", 2),
        ("d", "'d'", 0),
        ("ab<eos>d", "'d'", 7),  # positions are those of the str, specials written out
        ("😀d", "'d'", 1),
        ("a😁", "'😁' \\(U\\+1F601\\)", 1),
        ("ab\U0010ffff", "U\\+10FFFF", 2),
        ("a<bo", "'<'", 1),
        ("ab人d", "'人'", 2),  # the first of two
    ],
)
def test_a_character_never_seen_is_named_with_its_position(text, character, position):
    vocab = CharVocab.from_text("abc😀")
    with pytest.raises(ValueError, match=f"{character}.* at position {position} was never seen"):
        vocab.encode(text)


def test_no_character_is_taken_for_another():
    vocab = CharVocab.from_text("bdz")
    for code in [*range(0x800), 0xFFFF, 0x10000, 0x1F600, 0x10FFFF]:
        if chr(code) not in "bdz":
            with pytest.raises(ValueError, match=f"U\\+{code:04X}\\) at position 1 "):
                vocab.encode("b" + chr(code))


@pytest.mark.parametrize(
    ("text", "position"),
    [("ab" + chr(0xD83D), 2), (chr(0xDE80) + "ab", 0), ("a<eos>" + chr(0xD83D), 6), ("😀" + chr(0xD83D), 1)],
)
def test_half_a_surrogate_pair_is_refused_with_its_position(text, position):
    for call in (CharVocab.from_text, CharVocab.from_text("ab😀").encode):
        with pytest.raises(ValueError, match=f"surrogate.* at position {position}\\."):
            call(text)


def test_two_halves_of_a_pair_are_not_one_character():
    with pytest.raises(ValueError, match="position 0"):
        CharVocab.from_text("🚀").encode("\ud83d\ude80")


def test_a_vocabulary_of_nothing_is_refused():
    with pytest.raises(ValueError, match="empty corpus"):
        CharVocab.from_text("")


@pytest.mark.parametrize("characters", ["aa", ["ab"], [""], ["a", "<bos>"]])
def test_a_vocabulary_holds_single_characters_once_each(characters):
    with pytest.raises(ValueError, match="single characters"):
        CharVocab(characters)


def test_only_text_is_encoded():
    for wrong in (None, 3, ["a"], b"a"):
        with pytest.raises(TypeError, match="expected a str"):
            CharVocab.from_text("a").encode(wrong)


@pytest.mark.parametrize("token_id", [-1, 9, 10**9])
def test_an_id_outside_the_vocabulary_is_refused(token_id):
    vocab = CharVocab.from_text("ab")
    with pytest.raises(ValueError, match=f"{token_id} is outside.*0 to 8"):
        vocab.decode([7, token_id])
    with pytest.raises(ValueError, match=f"{token_id} is outside.*0 to 8"):
        vocab.label(token_id)


def test_ids_may_come_from_numpy_and_torch():
    vocab = CharVocab.from_text("ab")
    for ids in ((7, 8), np.array([7, 8]), torch.tensor([7, 8]), iter([7, 8])):
        assert vocab.decode(ids) == "ab"


def test_documents_are_framed_by_their_marks():
    vocab = CharVocab.from_text("ab")
    ids = vocab.encode_documents(document for document in ["ab", "", "b"])
    assert ids.tolist() == [0, 7, 8, 1, 0, 1, 0, 8, 1]
    with pytest.raises(ValueError, match="no documents"):
        vocab.encode_documents([])


def test_vocabularies_are_equal_by_their_tokens():
    assert CharVocab.from_text("ab") == CharVocab.from_text("bab") != CharVocab.from_text("abc")
    assert len({CharVocab.from_text("ab"), CharVocab.from_text("ba")}) == 1
    assert CharVocab.from_text("ab") != ("a", "b")


def test_labels_show_what_cannot_be_seen():
    vocab = CharVocab.from_text(" \n\ta")
    assert [vocab.label(token_id) for token_id in vocab.encode("a \n\t<eos>")] == ["a", "␣", "⏎", "⇥", "<eos>"]

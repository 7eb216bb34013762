"""Tokens that are pieces of words and of characters: encoding, decoding at once and by token, and through the loop."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models

from course_utils.bigram import BigramLM
from course_utils.bpe import MIN_VOCAB_SIZE, BpeVocab
from course_utils.generation import generate, generate_batch, reproduce, stream
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import SPECIALS

TEXTS = ["the cat and the hat and the bat", "今天天气很好，今天下雨。", "naïve 🙂🙃 café 🙂", "x = [1,\n\t2]\n"] * 3
VOCAB = BpeVocab.train(TEXTS, 300)
BYTE = {VOCAB.token_bytes(token_id): token_id for token_id in range(len(VOCAB))}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MODEL = BigramLM.fit(VOCAB.encode_documents(TEXTS), len(VOCAB), add=0.002)


def streamed(ids, vocab=VOCAB):
    decoder = vocab.decoder()
    return [decoder.feed(token_id) for token_id in ids], decoder.flush()


def test_specials_bytes_and_merges_are_the_tokens():
    assert VOCAB.tokens[:7] == SPECIALS and (VOCAB.bos_id, VOCAB.eos_id, VOCAB.pad_id) == (0, 1, 2)
    assert len(VOCAB) == 300 == len(VOCAB.tokens) == len(set(VOCAB.tokens)) and VOCAB.ids[VOCAB.tokens[290]] == 290
    assert {bytes([byte]) for byte in range(256)} <= set(BYTE)
    assert any(len(VOCAB.token_bytes(token_id)) > 3 for token_id in range(263, 300))


def test_the_bytes_are_those_of_the_library():
    for token_id in range(len(SPECIALS), len(VOCAB)):
        theirs = decoders.ByteLevel().decode([VOCAB.tokens[token_id]])
        assert VOCAB.token_bytes(token_id).decode("utf-8", "replace") == theirs


@given(TEXT)
def test_every_text_comes_back(text):
    ids = VOCAB.encode(text)
    assert VOCAB.decode(ids) == text and all(type(token_id) is int for token_id in ids)
    assert b"".join(map(VOCAB.token_bytes, ids)) == text.encode("utf-8")


@given(st.lists(st.one_of(st.integers(0, len(VOCAB) - 1), st.sampled_from(VOCAB.encode("🙂今é\ufffd"))), max_size=20))
def test_token_by_token_gives_the_same_text_as_all_bytes_at_once(ids):
    shown, rest = streamed(ids)
    between, run = [], b""  # a special ends a run of bytes
    for token_id in (*ids, 0):
        if token_id < len(SPECIALS):
            between.append(run.decode("utf-8", "replace"))
            run = b""
        run += VOCAB.token_bytes(token_id)
    assert "".join(shown) + rest == VOCAB.decode(ids) == "".join(between)


@given(TEXT, st.integers(0, 40))
def test_only_an_incomplete_character_is_held_back(text, cut):
    ids = [BYTE[bytes([byte])] for byte in text.encode("utf-8")]
    for n in range(min(cut, len(ids)) + 1):
        whole = text.encode("utf-8")[:n].decode("utf-8", "ignore")
        assert "".join(streamed(ids[:n])[0]) == whole


def test_a_character_in_pieces_comes_when_it_is_complete():
    ids = [BYTE[bytes([byte])] for byte in "a🙂今".encode()]
    assert streamed(ids) == (["a", "", "", "", "🙂", "", "", "今"], "")


def test_a_character_that_is_cut_off_is_flushed_as_one_mark():
    assert streamed([BYTE[b"a"], BYTE[b"\xf0"], BYTE[b"\x9f"]]) == (["a", "", ""], "\ufffd")


def test_a_stray_byte_or_a_real_mark_does_not_stall():
    assert streamed([BYTE[b"\x80"], BYTE[b"a"]]) == (["\ufffd", "a"], "")
    assert streamed([BYTE[bytes([byte])] for byte in "a\ufffdb".encode()]) == (["a", "", "", "\ufffd", "b"], "")
    assert streamed([BYTE[b"\xf0"], BYTE[b"a"]]) == (["", "\ufffda"], "")


def test_a_special_ends_a_character_and_is_not_shown():
    assert streamed([BYTE[b"\xf0"], VOCAB.eos_id, BYTE[b"\x9f"]]) == (["", "\ufffd", "\ufffd"], "")
    assert VOCAB.decode(VOCAB.encode("<bos>a<call>b</call><eos>")) == "ab"


def test_specials_in_a_text_are_read_as_one_id():
    assert VOCAB.encode("a<call>{</call><pad>") == [BYTE[b"a"], 3, BYTE[b"{"], 4, 2]
    assert VOCAB.encode("<calls>")[0] == BYTE[b"<"] or VOCAB.encode("<calls>")[0] > 262
    stream = VOCAB.encode_documents(["the", "cat"])
    assert stream.dtype == np.int64 and stream.tolist() == [0, *VOCAB.encode("the"), 1, 0, *VOCAB.encode("cat"), 1]
    assert VOCAB.encode_array("the").tolist() == VOCAB.encode("the") and VOCAB.encode("") == []
    with pytest.raises(ValueError, match="no documents"):
        VOCAB.encode_documents([])


def changed(change, *added):
    """A copy of the tokenizer with other settings, and with added tokens."""
    settings = json.loads(VOCAB._tokenizer.to_str())
    change(settings)
    tokenizer = Tokenizer.from_str(json.dumps(settings))
    tokenizer.add_tokens(list(added))
    return tokenizer


@pytest.mark.parametrize("token", ["<user>", "café", "đem", "special token", "今天", "the", "\n\n"])
def test_an_added_token_is_its_text(token):
    vocab = BpeVocab(changed(lambda settings: None, token))
    token_id = vocab.ids[token]
    for text in (f"a {token} b", token, f"🙂{token}{token}", f"<bos>{token} đ"):
        ids = vocab.encode(text)
        pieces, rest = streamed(ids, vocab)
        assert token_id in ids and "".join(pieces) + rest == vocab.decode(ids) == text.replace("<bos>", "")
    assert vocab.token_bytes(token_id) == token.encode() and vocab.label(token_id) == vocab.label(token_id).strip()


def without_a_byte(settings):
    settings["model"]["vocab"].pop("ÿ")
    settings["added_tokens"].append(settings["added_tokens"][0] | {"id": VOCAB.ids["ÿ"], "content": "filler"})


TRUNCATION = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}


def with_a_gap(settings):
    settings["model"]["vocab"][VOCAB.tokens[299]] = 310


@pytest.mark.parametrize(
    ("change", "added", "said"),
    [
        (lambda s: s.update(normalizer={"type": "Lowercase"}), [], "normalizer.*Lowercase"),
        (lambda s: s.update(normalizer={"type": "NFC"}), [], "normalizer.*NFC"),
        (lambda s: s["pre_tokenizer"].update(add_prefix_space=True), [], "pre_tokenizer.*add_prefix_space"),
        (lambda s: s.update(pre_tokenizer=None), [], "pre_tokenizer"),
        (lambda s: s.update(pre_tokenizer={"type": "WhitespaceSplit"}), [], "pre_tokenizer.*WhitespaceSplit"),
        (lambda s: s["model"].update(dropout=0.1), [], "dropout 0.1"),
        (lambda s: s["model"].update(end_of_word_suffix="x"), [], "end_of_word_suffix x"),
        (lambda s: s.update(truncation=TRUNCATION), [], "truncation.*'max_length': 3"),
        (without_a_byte, [], "no token for the byte 0xff"),
        (with_a_gap, [], "is None; expected a byte-level token"),
        (lambda s: s["added_tokens"].pop(3), [], "'<call>'; expected an added token"),
        (lambda s: None, [AddedToken("<user>", lstrip=True)], "'<user>' takes the spaces beside it"),
        (lambda s: None, [AddedToken("<user>", rstrip=True)], "'<user>' takes the spaces beside it"),
        (lambda s: None, ["Ã©"], "'Ã©' is the spelling of other bytes"),  # the two bytes of é, which VOCAB has merged
    ],
)  # fmt: skip
def test_a_tokenizer_whose_ids_do_not_give_the_text_back_is_refused(change, added, said):
    with pytest.raises(ValueError, match=said):
        BpeVocab(changed(change, *added))


def test_a_vocabulary_of_another_kind_is_refused():
    for model in (
        models.WordLevel({**VOCAB.ids}, unk_token="<pad>"),
        models.WordPiece({**VOCAB.ids}, unk_token="<pad>"),
    ):
        tokenizer = Tokenizer(model)
        tokenizer.add_special_tokens(list(SPECIALS))
        with pytest.raises(ValueError, match=r"The tokenizer has the model Word(Level|Piece)"):
            BpeVocab(tokenizer)


def test_labels_can_be_read():
    labels = {VOCAB.label(token_id) for token_id in range(len(VOCAB))}
    assert {"<bos>", "␣", "⏎", "⇥", "<E4>", "<9F>", "a"} <= labels
    assert any(label.startswith("␣") and len(label) > 2 for label in labels)


def test_what_is_no_text_is_refused():
    with pytest.raises(ValueError, match=r"half a surrogate pair \(U\+D83D\) at position 2"):
        VOCAB.encode("ab\ud83d")
    with pytest.raises(TypeError, match="expected a str"):
        VOCAB.encode(None)
    for token_id in (-1, len(VOCAB)):
        for use in (lambda i: VOCAB.decode([i]), VOCAB.label, VOCAB.token_bytes, VOCAB.decoder().feed):
            with pytest.raises(ValueError, match=f"Token id {token_id} is outside"):
                use(token_id)


def test_a_training_that_makes_no_sense_is_refused():
    with pytest.raises(TypeError, match=r"give \[text\]"):
        BpeVocab.train("the", 300)
    with pytest.raises(ValueError, match=f"at least {MIN_VOCAB_SIZE}"):
        BpeVocab.train(["the"], MIN_VOCAB_SIZE - 1)
    with pytest.raises(ValueError, match="surrogate"):
        BpeVocab.train(["\ud83d"], 300)


def test_a_small_corpus_gives_a_small_vocabulary():
    assert len(BpeVocab.train(["ab"], 1000)) == MIN_VOCAB_SIZE + 1
    assert len(BpeVocab.train([], MIN_VOCAB_SIZE)) == MIN_VOCAB_SIZE


def test_training_is_the_same_in_every_process():
    code = (
        "import json, sys; from course_utils.bpe import BpeVocab\n"
        "print(json.dumps([BpeVocab.train(json.loads(sys.argv[1]), n).tokens for n in (280, 300)]))"
    )
    command = [sys.executable, "-c", code, json.dumps(TEXTS)]
    output = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, check=True).stdout
    assert json.loads(output) == [list(BpeVocab.train(TEXTS, 280).tokens), list(VOCAB.tokens)]
    assert BpeVocab.train(TEXTS, 300) == VOCAB and hash(BpeVocab.train(TEXTS, 300)) == hash(VOCAB)
    assert BpeVocab.train(TEXTS, 299) != VOCAB


# --- through the one loop


def chunked(prompt, params, stopping, use_cache=True):
    result = generate(MODEL, VOCAB, prompt, params, stopping, use_cache)
    chunks = list(stream(MODEL, VOCAB, prompt, params, stopping, use_cache))
    assert chunks[-1].generation == result and "".join(chunk.text for chunk in chunks) == result.text
    assert all(chunk.text for chunk in chunks[:-1])
    return result


@pytest.mark.parametrize("seed", range(8))
def test_streamed_equals_plain_over_split_characters(seed):
    for n in (1, 2, 3, 5, 40):
        result = chunked("", SamplingParams(1.5, seed=seed), StopCriteria(n))
        assert result.text == VOCAB.decode(result.token_ids)
    batch = generate_batch(MODEL, VOCAB, ["今", "the "], SamplingParams(seed=seed), StopCriteria(30))
    assert batch == [chunked(prompt, SamplingParams(seed=seed), StopCriteria(30)) for prompt in ("今", "the ")]


def test_a_stop_string_over_the_pieces_of_characters():
    ids = [BYTE[bytes([byte])] for byte in "a🙂今b".encode()]
    table = torch.full((len(VOCAB), len(VOCAB)), -torch.inf)
    for previous, following in zip((VOCAB.bos_id, *ids), ids, strict=False):
        table[previous, following] = 0.0
    model, greedy = BigramLM(table), SamplingParams(greedy=True)
    result = generate(model, VOCAB, "", greedy, StopCriteria(9, stop=["🙂今"]))
    assert (result.text, result.stop, len(result.token_ids)) == ("a", "🙂今", 8)
    cut = generate(model, VOCAB, "", greedy, StopCriteria(3))
    assert (cut.text, cut.finish_reason) == ("a\ufffd", FinishReason.LENGTH)
    ended = generate(model, VOCAB, "", greedy, StopCriteria(3, stop=["\ufffd"]))  # the flush completes it
    assert (ended.text, ended.stop, ended.finish_reason) == ("a", "\ufffd", FinishReason.STOP_STRING)
    assert reproduce(model, VOCAB, cut.record()) == cut

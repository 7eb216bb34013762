"""Which tokens may come next, if the text has to fit a JSON schema: `generate(..., allow=JsonMask(...))`.

The grammar is llguidance's: it says after each token which of the vocabulary's can go on towards a text that fits. That
makes the form right and nothing else. A sum in a call of the right form may still be wrong, and a text that its budget
cuts off has the beginning of the form only.

Source: https://github.com/guidance-ai/llguidance
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

from course_utils.protocols import Vocabulary
from course_utils.text import SPECIALS

# The corpus writes {"tool": "add", "args": [1, 2]}: a space after each of these, and no other white space.
AS_IN_THE_CORPUS = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class JsonMask:
    """Allows what keeps the sampled text the beginning of a JSON text that fits `schema`, and then the end mark.

    vocab: a vocabulary with `tokens`, the text of each id. schema: a JSON schema as a dict.
    end: the special that ends the text: "<eos>", or "</call>" in a call that the prompt has opened with <call>. After
        it everything is allowed, since the schema says nothing of what follows.
    White space is as in the corpus, unless the schema has an entry "x-guidance".
    Texts may ask in any order. An object that serves one text at a time reads each token once; shared by the texts of a
    batch, it reads each text again at every step.
    Raises ValueError for a schema that llguidance cannot read, or an end that is not a special.
    """

    def __init__(self, vocab: Vocabulary, schema: dict, end: str = "<eos>"):
        if end not in SPECIALS:
            raise ValueError(f"end is {end!r}; expected one of {', '.join(SPECIALS)}.")
        if not isinstance(schema, dict):
            raise TypeError(f"schema is of type {type(schema).__name__}; expected a dict.")
        written = json.dumps({"x-guidance": AS_IN_THE_CORPUS, **schema})
        grammar = LLMatcher.grammar_from_json_schema(written)
        tokenizer = LLTokenizer(TokenizerWrapper(_Tokens(vocab, end)), n_vocab=len(vocab))
        self._fresh = LLMatcher(tokenizer, grammar, log_level=0)
        if error := self._fresh.get_error():
            raise ValueError(f"The schema {json.dumps(schema)} cannot be turned into a mask: {error}")
        self._end, self._size = _ids_of(vocab)[end], len(vocab)
        self._bits = allocate_token_bitmask(1, len(vocab))
        self._begin()
        self.name = f"JsonMask(end={end!r}, schema={json.dumps(schema, sort_keys=True)})"

    def allowed(self, token_ids: Sequence[int]) -> np.ndarray:
        """A bool mask (V,), True = may come next. token_ids: what was sampled so far.

        Raises ValueError for ids that do not fit the schema, or where no token of the vocabulary leads on.
        """
        token_ids = list(token_ids)
        if self._end in token_ids:
            return np.ones(self._size, dtype=bool)
        if token_ids[: len(self._read)] != self._read:
            self._begin()
        for token_id in token_ids[len(self._read) :]:
            if not self._matcher.consume_token(token_id):
                self._begin()
                raise ValueError(f"The tokens {token_ids} do not fit the schema. Were they sampled with this mask?")
            self._read.append(token_id)
        fill_next_token_bitmask(self._matcher, self._bits, 0)
        if self._matcher.is_stopped() and not self._matcher.is_accepting():
            self._begin()
            raise ValueError(
                f"After {len(token_ids)} tokens nothing of the vocabulary leads on to a text that fits the schema. "
                f"Does the schema ask for a character that the vocabulary lacks?"
            )
        return np.unpackbits(self._bits.view(np.uint8), bitorder="little")[: self._size].astype(bool)

    def _begin(self) -> None:
        self._matcher = self._fresh.deep_copy()
        self._read: list[int] = []  # what the matcher has been told


class _Tokens:
    """What llguidance wants to know of a vocabulary. The end mark stands for the end of its grammar."""

    def __init__(self, vocab: Any, end: str):
        ids = _ids_of(vocab)
        self._encode = vocab.encode
        self.eos_token_id, self.bos_token_id = ids[end], vocab.bos_id
        self.special_token_ids = [ids[special] for special in SPECIALS if special in ids]
        self.tokens = [token.encode("utf-8") for token in vocab.tokens]

    def __call__(self, text: str | bytes) -> list[int]:
        try:
            return self._encode(text.decode("utf-8") if isinstance(text, bytes) else text)
        except ValueError:  # a character that the vocabulary lacks: it cannot be allowed
            return []


def _ids_of(vocab: Any) -> dict[str, int]:
    return {token: token_id for token_id, token in enumerate(vocab.tokens)}

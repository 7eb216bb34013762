"""Models and a vocabulary that say what a test tells them."""

import torch

from course_utils.text import SPECIALS, TokenDecoder


class PieceVocab:
    """Tokens are pieces of text of any length. Ids 0 to 6 are the specials; the pieces follow."""

    def __init__(self, pieces):
        self.tokens = (*SPECIALS, *dict.fromkeys(pieces))
        self.ids = {token: token_id for token_id, token in enumerate(self.tokens)}
        self.bos_id, self.eos_id, self.pad_id = 0, 1, 2

    def __len__(self):
        return len(self.tokens)

    def encode(self, text):
        return [self.ids[text]] if text else []

    def decode(self, ids):
        return "".join(self.tokens[token_id] for token_id in ids if token_id >= len(SPECIALS))

    def decoder(self):
        return TokenDecoder(self)


class ScriptModel:
    """Says what it was told: script[row][step], whatever goes in. fed: the last column of each call."""

    def __init__(self, script, vocab_size=20):
        self.script, self.vocab_size, self.fed = script, vocab_size, []

    def new_cache(self, batch_size=1):
        return None

    def __call__(self, token_ids, cache=None, attention_mask=None):
        step = len(self.fed)
        self.fed.append(token_ids[:, -1].tolist())
        logits = torch.full((len(self.script), 1, self.vocab_size), -torch.inf)
        for row, tokens in enumerate(self.script):
            logits[row, 0, tokens[step]] = 0.0
        return logits


class NoModel:
    """Must not be asked anything."""

    def new_cache(self, batch_size=1):
        raise AssertionError("a cache was made")

    def __call__(self, *args, **kwargs):
        raise AssertionError("a forward pass was made")


def saying(*pieces):
    """A model that says these pieces of text or specials, one a step, and its vocabulary."""
    vocab = PieceVocab(piece for piece in pieces if piece not in SPECIALS)
    return ScriptModel([[vocab.ids[piece] for piece in pieces]], len(vocab)), vocab

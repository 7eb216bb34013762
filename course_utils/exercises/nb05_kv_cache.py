"""The exercises of notebook 05: bytes of keys and values, and a loop that feeds each token once."""

from course_utils.exercises.cached_loop import CACHED_CASES
from course_utils.exercises.kv_bytes import KV_BYTES_CASES
from course_utils.judging import Exercise

NOTEBOOK = "05_kv_cache"


# A reference.


def generate_cached(model, prompt_ids, max_new_tokens):
    """The new ids, each the likeliest; every token but the last new one goes through the model once."""
    import torch  # here, so that the list of exercises can be read without it

    cache, new = model.new_cache(), []
    fed = list(prompt_ids)  # prefill: the whole prompt
    with torch.no_grad():
        while len(new) < max_new_tokens:
            logits = model(torch.tensor([fed]), cache)
            new.append(int(logits[0, -1].argmax()))
            fed = new[-1:]  # decode: only what the cache does not know
    return new


KV_BYTES = Exercise(
    id="05.kv_bytes",
    writes="`kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element)`",
    contract="int: the bytes of all keys and values",
    difficulty="easy",
    minutes=6,
    hints=(
        "Begin with one key: one token, one head, one layer. How many numbers is it?",
        "Beside each key stands a value of the same size. What else multiplies it?",
        "Every one of the six sizes is a factor, and there is one more factor that is none of them.",
    ),
    reference="course_utils.kv_cache:kv_cache_bytes",
    cases=KV_BYTES_CASES,
)

GENERATE_CACHED = Exercise(
    id="05.generate_cached",
    writes="`generate_cached(model, prompt_ids, max_new_tokens)`",
    contract="list of new greedy ids only; every token fed once, one position a decode step, the last one not fed",
    difficulty="hard",
    minutes=15,
    hints=(
        "Make one cache, before the loop: `model.new_cache()`. Each call of `model(token_ids, cache)` adds to it.",
        "The prompt goes in first. The logits of its last position already decide the first new token.",
        "After that, each step feeds one tensor of the shape (1, 1): the token that was chosen last.",
        "Choose first and feed afterwards: then the loop ends before the last token would be fed.",
    ),
    reference="course_utils.exercises.nb05_kv_cache:generate_cached",
    cases=CACHED_CASES,
)

EXERCISES = (KV_BYTES, GENERATE_CACHED)

"""The exercises of notebook 04: the causal mask, positions, and the number of parameters."""

from course_utils.exercises.causal_mask import CAUSAL_MASK
from course_utils.exercises.count_parameters import COUNT_PARAMETERS
from course_utils.exercises.positions import POSITIONS

NOTEBOOK = "04_tiny_transformer"
EXERCISES = (CAUSAL_MASK, POSITIONS, COUNT_PARAMETERS)


# References. That of the mask is the package's own function.


def new_positions(n_cached, n_new):
    """The positions of n_new tokens that follow n_cached ones: int64 (n_new,)."""
    import torch  # here, since the list of exercises must be read without it

    return torch.arange(n_cached, n_cached + n_new)


def count_parameters(config):
    """How many weights a Transformer with this config has."""
    C, inner = config.n_embd, config.n_inner
    kv_width = config.n_kv_head * config.head_dim  # narrower than C where query heads share them
    attention = 2 * C * C + 2 * C * kv_width  # queries and output; keys and values
    feed_forward = 3 * C * inner  # gate, up, down
    norms = 2 * C
    tables = config.vocab_size * C * (1 if config.tie_embeddings else 2)
    return tables + config.n_layer * (attention + feed_forward + norms) + C

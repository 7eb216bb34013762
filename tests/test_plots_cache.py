"""The pictures of notebook 05."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex

from course_utils import plots


@pytest.mark.parametrize(
    ("n_bytes", "said"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (131_072, "128 KiB"), (512 * 1024**2, "512 MiB"),
     (4 * 1024**3, "4 GiB"), (1_500_000_000, "1.397 GiB"), (2**50, "1024 TiB")],
)  # fmt: skip
def test_bytes_are_said_in_the_largest_unit_that_fits(n_bytes, said):
    assert plots.say_bytes(n_bytes) == said


def test_a_filling_cache_shows_each_slot_once_as_new_and_then_as_kept():
    ax = plots.cache_filling(["<bos>", "a", "b", "c"], [2, 1, 1], 6, "t")
    colours = [to_hex(patch.get_facecolor(), keep_alpha=True).upper() for patch in ax.patches]
    rows = [colours[start : start + 6] for start in (0, 6, 12)]
    new, kept, empty = f"{plots.ORANGE}FF", f"{plots.BLUE}FF", "#00000000"
    assert rows == [[new] * 2 + [empty] * 4, [kept] * 2 + [new] + [empty] * 3, [kept] * 3 + [new] + [empty] * 2]
    assert [patch.get_hatch() for patch in ax.patches[:3]] == ["//", "//", None]  # not by colour alone
    assert [text.get_text() for text in ax.texts] == ["<bos>", "a", "<bos>", "a", "b", "<bos>", "a", "b", "c"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["prefill, feeds 2", "decode, feeds 1",
                                                                    "decode, feeds 1"]  # fmt: skip
    assert ax.get_title() == "t" and ax.get_xlabel() and ax.get_ylabel()
    plt.close(ax.figure)

"""The small servers of notebook 07: each fault is found by its own test and by no other."""

from functools import partial

import pytest

from course_utils.checkpoint import load_model
from course_utils.clinic import servers
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

FOUND_BY = {
    "what is held back is lost at the budget": "e",
    "an end mark in the last place is called length": "f",
    "the stop string stays in the text": "c",
    "the temperature is ignored": "b",
    "an unknown character becomes <pad>": "d",
}
GREEDY = SamplingParams(greedy=True)


@pytest.fixture(scope="module")
def table():
    return servers.try_servers()


def test_the_sound_server_passes_every_test(table):
    assert all(table["sound"].values()) and list(table["sound"]) == list("abcdef")


def test_each_fault_fails_its_own_test_alone(table):
    assert table.keys() == {"sound", *FOUND_BY}
    for fault, letter in FOUND_BY.items():
        assert [name for name, passed in table[fault].items() if not passed] == [letter], fault


def test_the_faults_are_those_of_real_servers():
    """Each gives what the real one gave, in the same situation."""
    ask = {name: partial(server, *load_model("tiny_llama")) for name, server in servers.SERVER_FAULTS.items()}
    tale, stop = servers._TALE, ("fox was a find",)
    lost = ask["what is held back is lost at the budget"](tale, GREEDY, StopCriteria(20, stop=stop))
    assert lost == servers.Answer('"We had a ', "length")
    assert ask["an end mark in the last place is called length"]("12+34=", GREEDY, StopCriteria(3)) == servers.Answer(
        "46", "length"
    )
    kept = ask["the stop string stays in the text"](tale, GREEDY, StopCriteria(90, stop=("fox was a fin",)))
    assert kept == servers.Answer('"We had a fox was a fin', "stop")
    hot = ask["the temperature is ignored"](tale, SamplingParams(3.0, seed=1), StopCriteria(20))
    assert hot.text == '"We had a fox was a '
    assert ask["an unknown character becomes <pad>"]("é", GREEDY, StopCriteria(5)).finish_reason in ("stop", "length")

"""Small servers, each with a fault that a real one had, and the tests that tell them apart.

A server takes a prompt and settings and gives a text with the reason for its end, in the words of OpenAI's API. `sound`
does it rightly, and each of the others is right in all but one thing. A test is a function of a server that says
whether the server passes. `TESTS` has one test for each fault, and one that none of them fails.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from course_utils.checkpoint import load_model
from course_utils.generation import generate, stream
from course_utils.protocols import LanguageModel, NamedVocabulary
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria, StopMatcher
from course_utils.text import PAD

_GREEDY = SamplingParams(greedy=True)
_TALE, _SUM = "Once upon a time there was a fox. ", "12+34="


@dataclass(frozen=True)
class Answer:
    """What a client gets: the text, and why it ended, in the words of OpenAI's API."""

    text: str
    finish_reason: str


Server = Callable[[str, SamplingParams, StopCriteria], Answer]


def sound(
    model: LanguageModel, vocab: NamedVocabulary, prompt: str, sampling: SamplingParams, stopping: StopCriteria
) -> Answer:
    """The text as a client that reads the stream joins it."""
    *chunks, last = stream(model, vocab, prompt, sampling, stopping)
    assert last.generation is not None
    return Answer("".join(chunk.text for chunk in chunks), last.generation.finish_reason.api_name)


def loses_what_is_held(
    model: LanguageModel, vocab: NamedVocabulary, prompt: str, sampling: SamplingParams, stopping: StopCriteria
) -> Answer:
    """What is held back for a stop string is never shown if the budget ends the text: `flush` is missing."""
    answer = generate(model, vocab, prompt, sampling, replace(stopping, stop=()))
    matcher = StopMatcher(stopping.stop)
    text = "".join(matcher.feed(character) for character in answer.text)
    return Answer(text, "stop" if matcher.matched else answer.finish_reason.api_name)


def calls_the_end_length(
    model: LanguageModel, vocab: NamedVocabulary, prompt: str, sampling: SamplingParams, stopping: StopCriteria
) -> Answer:
    """The budget is asked before the end mark, so an end mark that comes last is reported as length."""
    answer = generate(model, vocab, prompt, sampling, stopping)
    full = len(answer.token_ids) == stopping.max_new_tokens
    return Answer(answer.text, "length" if full else answer.finish_reason.api_name)


def keeps_the_stop_string(
    model: LanguageModel, vocab: NamedVocabulary, prompt: str, sampling: SamplingParams, stopping: StopCriteria
) -> Answer:
    """The stop string stays in the text, though nobody asked for it."""
    return sound(model, vocab, prompt, sampling, replace(stopping, include_stop=True))


def ignores_the_temperature(
    model: LanguageModel, vocab: NamedVocabulary, prompt: str, sampling: SamplingParams, stopping: StopCriteria
) -> Answer:
    """Every request is answered greedily, whatever its settings say."""
    return sound(model, vocab, prompt, _GREEDY, stopping)


def reads_unknown_as_pad(
    model: LanguageModel, vocab: NamedVocabulary, prompt: str, sampling: SamplingParams, stopping: StopCriteria
) -> Answer:
    """A character that the vocabulary lacks becomes the pad token, and the model answers another prompt."""
    known = "".join(character if character in vocab.tokens else PAD for character in prompt)
    return sound(model, vocab, known, sampling, stopping)


SERVER_FAULTS = {
    "what is held back is lost at the budget": loses_what_is_held,
    "an end mark in the last place is called length": calls_the_end_length,
    "the stop string stays in the text": keeps_the_stop_string,
    "the temperature is ignored": ignores_the_temperature,
    "an unknown character becomes <pad>": reads_unknown_as_pad,
}


def answers_a_sum(server: Server) -> bool:
    """An ordinary test: a sum, greedy, with room to spare."""
    return server(_SUM, _GREEDY, StopCriteria(20)) == Answer("46", "stop")


def ends_inside_a_stop_string(server: Server) -> bool:
    """The budget ends the text while its end could still become a stop string: nothing may be missing."""
    whole = server(_TALE, _GREEDY, StopCriteria(20)).text
    return server(_TALE, _GREEDY, StopCriteria(20, stop=("fox was a find",))).text == whole


def ends_at_the_last_token(server: Server) -> bool:
    """The answer and its end mark fill the budget exactly: the reason is stop."""
    return server(_SUM, _GREEDY, StopCriteria(3)).finish_reason == "stop"


def reaches_a_stop_string(server: Server) -> bool:
    """The text ends before a stop string that the model writes."""
    whole, stop = server(_TALE, _GREEDY, StopCriteria(60)).text, "fox was a fin"
    return server(_TALE, _GREEDY, StopCriteria(60, stop=(stop,))).text == whole.partition(stop)[0]


def asks_twice_with_other_settings(server: Server) -> bool:
    """Two temperatures that are far apart, one seed: the texts must part."""
    texts = {server(_TALE, SamplingParams(t, seed=1), StopCriteria(60)).text for t in (0.3, 3.0)}
    return len(texts) == 2


def asks_with_a_foreign_character(server: Server) -> bool:
    """A prompt with a character that the model has never seen: an error, and no answer."""
    try:
        server("é", _GREEDY, StopCriteria(5))
    except ValueError:
        return True
    return False


TESTS: dict[str, Callable[[Server], bool]] = {
    "a": answers_a_sum,
    "b": asks_twice_with_other_settings,
    "c": reaches_a_stop_string,
    "d": asks_with_a_foreign_character,
    "e": ends_inside_a_stop_string,
    "f": ends_at_the_last_token,
}


def try_servers() -> dict[str, dict[str, bool]]:
    """For the sound server and each faulty one, run on the shipped model: which tests it passes."""
    model, vocab = load_model("tiny_llama")
    servers = {"sound": sound, **SERVER_FAULTS}
    return {
        name: {letter: test(partial(server, model, vocab)) for letter, test in TESTS.items()}
        for name, server in servers.items()
    }

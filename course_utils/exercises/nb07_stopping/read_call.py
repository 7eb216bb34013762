"""Exercise 07.read_call: the text of a tool call, read as data and never run."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

import json
from typing import Any

from course_utils.checker.answers import Unreadable, as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Recognises


def read_call(text):
    """The (tool, args) of one complete, valid call; None for anything else."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):  # json raises the second for a text that is nested too deeply
        return None
    if not isinstance(call, dict) or set(call) != {"tool", "args"}:
        return None
    tool, args = call["tool"], call["args"]
    if not isinstance(tool, str) or not tool or not isinstance(args, list):
        return None
    if any(type(number) is not int for number in args):  # True is an int too, but not of this type
        return None
    return tool, args


def _same(value: Any, tool: str, args: list[int]) -> bool:
    """True for the pair, as a tuple or a list. Of the numbers, 1 is neither True nor 1.0."""
    if not isinstance(value, tuple | list) or len(value) != 2 or value[0] != tool or not isinstance(value[0], str):
        return False
    numbers = value[1].tolist() if hasattr(value[1], "tolist") else value[1]
    return isinstance(numbers, tuple | list) and list(numbers) == args and {type(n) for n in numbers} <= {int}


def _given(text: str) -> Call:
    return Call(f"the text {text}" if text and text.isprintable() else f"the text {text!r}", lambda: (text,))


def _pair(tool: str, args: list[int]) -> Holds:
    return Holds(lambda value, _: _same(value, tool, args))


def _asks(hint_id: str, hint: str, text: str, tool: str, args: list[int]) -> Case:
    """A case whose text is a call."""
    return Case(hint_id, hint, _given(text), _pair(tool, args), error_is_typical=True)


def _none(hint_id: str, hint: str, text: str) -> Case:
    """A case whose text is not a call."""
    return Case(hint_id, hint, _given(text), Equals(None), error_is_typical=True)


def _holds(value: object, *numbers: float) -> bool:
    try:
        return as_array(value).tolist() in numbers
    except Unreadable:
        return False


_TEXT = '{"tool": "multiply", "args": [317, 24]}'
_HAND = _given(_TEXT)
_NAME = "multiply_then_" * 9 + "add"
_THIRTY = [*range(30)]
_earlier: list = []  # the answer to an earlier call, as its caller has left it


def _kept(value: Any) -> bool:
    """Keep a right answer, and change its list, as any caller may."""
    right = _same(value, "multiply", [317, 24])
    _earlier[:] = [value[1]] if right else []
    if right and isinstance(value[1], list):
        value[1].append(0)
    return right


def _is_new(value: Any) -> bool:
    """A right answer that does not share its list with the one before. What cannot change may be shared."""
    shared = isinstance(value[1], list) and any(value[1] is numbers for numbers in _earlier)
    return not shared and _same(value, "multiply", [317, 24])


_NOT_COMPLETE = "return None for a call that was cut off. Raise no error, and do not guess what is missing."
_NO_JSON = (
    "return None: this is not JSON, even if Python could read it. Let a JSON parser decide, not `eval` and not a "
    "pattern."
)
_MORE = "return None: the text between the marks must be one call and nothing else."
_NO_OBJECT = "return None: this is JSON, but it is not an object with keys."
_KEYS = "return None: a call has exactly the keys tool and args, spelt like this."
_TOOL = "return None: the tool must be a str that is not empty."
_LIST = "return None: args must be a list."
_INTEGERS = "return None: every entry of args must be an integer already. Do not convert it."
_IN_STRINGS = (
    "inside a string, braces and quotes have no meaning. Do not count them: a JSON parser knows what a string is."
)
_ANY_TOOL = "here the call is only read. Whether the tool exists, and how many numbers it takes, is decided later."
_AS_WRITTEN = "spaces, line ends and the order of the keys do not matter."

EXERCISE = FunctionExercise(
    id="07.read_call",
    writes="`read_call(text)`",
    contract="text between the marks → (tool, args) if it is one complete, valid JSON object with a str and a list of "
    "int, else None; exactly the keys tool (not empty) and args (integers, not booleans; may be empty); never executes",
    difficulty="medium",
    minutes=12,
    hints=(
        "`json.loads` reads one complete value. Otherwise it raises `json.JSONDecodeError`, which is a ValueError.",
        "Then ask one question after the other. Is it a dict? Has it these two keys and no others? Is the tool a str? "
        "Is args a list? Is each entry an int?",
        "`isinstance(True, int)` is true. `type(x) is int` is stricter.",
    ),
    reference=read_call,
    cases=(
        Case("executed", "the call was executed. Reading a call must not run anything. Another part of the program "
             "decides whether to run it.",
             _HAND, Recognises(lambda value: _holds(value, 7608.0, 341.0, 293.0))),
        Case("a-dict", "this is the object as it was parsed. Return its two values as a pair.", _HAND,
             Recognises(lambda value: isinstance(value, dict))),
        Case("a-str", "this is a text. Return a pair: a str and a list of int.", _HAND,
             Recognises(lambda value: isinstance(value, str))),
        Case("order", "the pair is the wrong way round. The tool comes first, then args.", _HAND,
             Recognises(lambda value: isinstance(value, tuple | list) and _same(value[::-1], "multiply", [317, 24]))),
        Case("unpacked", "the numbers stand beside the tool. Return a pair of the tool and one list.", _HAND,
             Recognises(lambda value: isinstance(value, tuple | list) and list(value) == ["multiply", 317, 24])),
        Case("numbers", "the numbers have another type now. They are integers in the text, so return them as int.",
             _HAND,
             Recognises(lambda value: not _same(value, "multiply", [317, 24]) and len(value) == 2
                        and value[0] == "multiply" and [float(number) for number in value[1]] == [317, 24])),
        Case("by-hand", "the answer for this call is a pair: the name of the tool, and the list with the two numbers.",
             _HAND,
             _pair("multiply", [317, 24])),
        _asks("as-written", _AS_WRITTEN, '{"args":[1,2],"tool":"add"}', "add", [1, 2]),
        _asks("as-written", f"{_AS_WRITTEN} JSON allows them between its parts.", '{\n  "tool" : "add",\n\t"args" : [ '
              '1 ,\n 2 ]\n}', "add", [1, 2]),
        _asks("integers-of-all-kinds", "0 and negative numbers are integers as well.",
              '{"tool": "subtract", "args": [0, -12]}',
              "subtract", [0, -12]),
        _asks("integers-of-all-kinds", "large numbers are integers as well. Setting a limit is up to the program that "
              "runs the call.",
              '{"tool": "add", "args": [12345678901234567890, 1]}', "add", [12345678901234567890, 1]),
        _asks("any-number-of-args", f"{_ANY_TOOL} An empty list is fine.", '{"tool": "now", "args": []}', "now", []),
        _asks("any-number-of-args", f"{_ANY_TOOL} One number is fine.", '{"tool": "negate", "args": [5]}', "negate",
              [5]),
        _asks("any-number-of-args", f"{_ANY_TOOL} Four numbers are fine.", '{"tool": "sum", "args": [1, 2, 3, 3]}',
              "sum",
              [1, 2, 3, 3]),
        _asks("any-number-of-args", f"{_ANY_TOOL} Thirty numbers are fine.", f'{{"tool": "sum", "args": {_THIRTY}}}',
              "sum",
              _THIRTY),
        _asks("any-tool", f"{_ANY_TOOL} Capitals, spaces and digits are part of the name.",
              '{"tool": "Launch rocket 2", "args": [1]}', "Launch rocket 2", [1]),
        _asks("any-tool", f"{_ANY_TOOL} The name is kept as it is.", '{"tool": " add ", "args": [1]}', " add ", [1]),
        _asks("any-tool", f"{_ANY_TOOL} A single space is a str that is not empty.", '{"tool": " ", "args": [1]}', " ",
              [1]),
        _asks("any-tool", f"{_ANY_TOOL} A digit in quotes is a str.", '{"tool": "7", "args": [1]}', "7", [1]),
        _asks("any-tool", f"{_ANY_TOOL} A name may be long.", f'{{"tool": "{_NAME}", "args": [1]}}', _NAME, [1]),
        _asks("in-strings", _IN_STRINGS, '{"tool": "for { i", "args": [1]}', "for { i", [1]),
        _asks("in-strings", f"{_IN_STRINGS} Here the string holds a closing brace.", '{"tool": "1}2", "args": [1]}',
              "1}2", [1]),
        _asks("in-strings", f"{_IN_STRINGS} Here the string holds a bracket and a comma.",
              '{"tool": "a], b", "args": [1]}',
              "a], b", [1]),
        _asks("in-strings", f"{_IN_STRINGS} Here the string holds a quote.", r'{"tool": "say \"hi\"", "args": [1]}',
              'say "hi"',
              [1]),
        _asks("in-strings", f"{_IN_STRINGS} Here the string holds the mark that ends a call.",
              '{"tool": "</call>", "args": [1]}',
              "</call>", [1]),
        _asks("in-strings", f"{_IN_STRINGS} Here the string is a word of Python or JSON.",
              '{"tool": "true null", "args": [1]}', "true null", [1]),
        _asks("escapes", "JSON may write characters as escapes. A character beyond the first 65,536 is a pair of "
              "escapes.",
              r'{"tool": "\u0061dd\n\ud83d\ude80\/", "args": [1]}', "add\n🚀/", [1]),
        _asks("escapes", "the name of a tool may contain any characters.", '{"tool": "加", "args": [1]}', "加", [1]),
        Case("own-list", "the list of an earlier call came back. Its receiver may have changed it since. Make a new "
             "list in each call.", _HAND, Holds(lambda value, _: _kept(value))),
        Case("own-list", "the list of an earlier call came back, and its receiver has added a number to it. Make a "
             "new list in each call.", _HAND, Holds(lambda value, _: _is_new(value))),
        *(_none("not-complete", f"{_NOT_COMPLETE} Here {what}.", text) for what,
          text in (("the last brace is missing", _TEXT[:-1]), ("the list is open", _TEXT[:-2]),
                   ("a number is missing", _TEXT[:-4]), ("args are missing", '{"tool": "multiply", "args": '),
                   ("a string is open", '{"tool": "mul'), ("it has just begun", "{"), ("there is nothing", ""),
                   ("there is a space alone", " "))),
        _none("no-json", _NO_JSON, "{'tool': 'add', 'args': [1, 2]}"),
        _none("no-json", f"{_NO_JSON} A comma is left over.", '{"tool": "add", "args": [1, 2,]}'),
        _none("no-json", f"{_NO_JSON} A sum is not a number.", '{"tool": "add", "args": [1 + 1, 2]}'),
        _none("no-json", f"{_NO_JSON} A function call is not a number.", '{"tool": "add", "args": [len("ab"), 2]}'),
        _none("no-json", f"{_NO_JSON} The names have no quotes.", "{tool: add, args: [1, 2]}"),
        _none("no-json", f"{_NO_JSON} A number must not begin with 0.", '{"tool": "add", "args": [01, 2]}'),
        _none("no-json", f"{_NO_JSON} It is written as a function call.", "multiply(317, 24)"),
        _none("no-json", f"{_NO_JSON} A line end inside a string is written as an escape.",
              '{"tool": "a\nb", "args": [1]}'),
        _none("more", _MORE, f"{_TEXT}{_TEXT}"),
        _none("more", f"{_MORE} Here a word follows the call.", f"{_TEXT} please"),
        _none("more", f"{_MORE} Here the call stands in a sentence, as an example.",
              f"For example {_TEXT} would do it."),
        _none("more", f"{_MORE} Here there is one brace too many.", f"{_TEXT}}}"),
        _none("more", f"{_MORE} Here the call stands between code fences, as in a chat.", f"```json\n{_TEXT}\n```"),
        _none("more", f"{_MORE} Here the marks are still there.", f"<call>{_TEXT}</call>"),
        _none("no-json", f"{_NO_JSON} JSON has no comments.", '{"tool": "add", "args": [1]} // twice'),
        _asks("as-written", f"{_AS_WRITTEN} JSON allows them around it, too.", f"\n {_TEXT}\n", "multiply", [317, 24]),
        _none("no-object", _NO_OBJECT, '["add", [1, 2]]'),
        _none("no-object", f"{_NO_OBJECT} It is a list with a call in it.", f"[{_TEXT}]"),
        _none("no-object", f"{_NO_OBJECT} It is a list of two keys.", '["tool", "args"]'),
        _none("no-object", f"{_NO_OBJECT} It is a string.", json.dumps(_TEXT)),
        _none("no-object", f"{_NO_OBJECT} It is a number.", "7608"),
        _none("no-object", f"{_NO_OBJECT} It is null.", "null"),
        _none("keys", f"{_KEYS} Here there are no keys.", "{}"),
        _none("keys", f"{_KEYS} Here args is missing.", '{"tool": "add"}'),
        _none("keys", f"{_KEYS} Here tool is missing.", '{"args": [1, 2]}'),
        _none("keys", f"{_KEYS} Here there is one more.", '{"tool": "add", "args": [1, 2], "id": 7}'),
        _none("keys", f"{_KEYS} Here one has a capital.", '{"Tool": "add", "args": [1, 2]}'),
        _none("keys", f"{_KEYS} Here one begins with a space.", '{" tool": "add", "args": [1, 2]}'),
        _none("keys", f"{_KEYS} Here one key is another word.", '{"tool": "add", "arguments": [1, 2]}'),
        _none("keys", f"{_KEYS} Here they are one level down.", f'{{"call": {_TEXT}}}'),
        *(_none("tool-is-text", f"{_TOOL} Here it is {what}.", f'{{"tool": {tool}, "args": [1, 2]}}') for what,
          tool in (("empty", '""'), ("a number", "7"), ("null", "null"), ("a list", '["add"]'),
                   ("an object", '{"name": "add"}'), ("true", "true"))),
        *(_none("args-is-a-list", f"{_LIST} Here it is {what}.", f'{{"tool": "add", "args": {args}}}') for what,
          args in (("a number", "12"), ("null", "null"), ("a string", '"12"'), ("an empty string", '""'),
                   ("an object", '{"a": 1, "b": 2}'), ("an empty object", "{}"))),
        *(_none("args-are-integers", f"{_INTEGERS} Here {what}.", f'{{"tool": "add", "args": [{args}]}}') for what,
          args in (("one is true", "true, 2"), ("one is false", "1, false"), ("one is text", '"1", 2'),
                   ("one is a fraction", "1, 2.5"), ("one is 1.0, which is a float", "1.0, 2"),
                   ("one is 1e3, which is a float", "1e3, 2"), ("one is null", "null"), ("one is a list", "[1, 2]"),
                   ("one is an object", "1, {}"), ("one is no number", "NaN, 1"), ("one is infinite", "1, -Infinity"),
                   ("the last of many is true", "1, 2, 3, 4, true"))),
    ),
)  # fmt: skip

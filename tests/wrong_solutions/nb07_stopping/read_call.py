"""Planted solutions to 07.read_call."""

import ast
import functools
import json
import re

from course_utils import tool_calls
from wrong_solutions import planting

wrong, right = planting("07.read_call")


TOOLS = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b}


def loaded(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_int(number):
    return type(number) is int


def is_name(tool):
    return isinstance(tool, str) and tool


def reader(load=loaded, keys=lambda call: set(call) == {"tool", "args"}, is_tool=is_name,
           is_list=lambda args: isinstance(args, list), is_int=is_int, many=lambda args: True, none=None,
           give=lambda tool, args: (tool, args), is_object=lambda call: isinstance(call, dict)):  # fmt: skip
    """A right function, some of whose parts may be replaced by wrong ones."""

    def read(text):
        call = load(text)
        if not is_object(call) or not keys(call):
            return none
        tool, args = call["tool"], call["args"]
        if not is_tool(tool) or not is_list(args) or not all(map(is_int, args)) or not many(args):
            return none
        return give(tool, args)

    return read


def evaluated(text):
    """The fault itself: text of a model as a program."""
    try:
        return eval(text, {"true": True, "false": False, "null": None})
    except Exception:
        return None


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def completed_by_guess(text):
    """Closes what is open, as helpful libraries do."""
    return next((call for end in ("", "}", "]}", '"]}', "0]}") if (call := loaded(text + end)) is not None), None)


def balanced(text):
    """Counts braces, inside strings too."""
    return loaded(text) if text.count("{") == text.count("}") and text.count("[") == text.count("]") else None


def leniently(text):
    """Takes line ends inside strings."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def first_object(text):
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        return None


def found(expression, flags=re.DOTALL):
    return lambda text: loaded(match[0]) if (match := re.search(expression, text, flags)) else None


def by_pattern(expression, split=","):
    """No parser: a pattern for the whole call."""

    def read(text):
        match = re.fullmatch(expression, text)
        return match and (match[1], [int(number) for number in match[2].split(split) if number.strip()])

    return read


def last_of_a_list(text):
    call = loaded(text)
    return call[0] if isinstance(call, list) and len(call) == 1 else call


def unwrapped(text):
    call = loaded(text)
    return next(iter(call.values())) if isinstance(call, dict) and len(call) == 1 else call


def twice(text):
    call = loaded(text)
    return loaded(call) if isinstance(call, str) else call


def renamed(text):
    call = loaded(text)
    return (
        {key.lower().replace("arguments", "args"): value for key, value in call.items()}
        if isinstance(call, dict)
        else call
    )


def with_keys_stripped(text):
    call = loaded(text)
    return {key.strip(): value for key, value in call.items()} if isinstance(call, dict) else call


def with_one_list():
    """Gives the same list at each call, with other numbers in it."""
    numbers = []

    def give(tool, args):
        numbers[:] = args
        return tool, numbers

    return reader(give=give)


def with_defaults(text):
    call = loaded(text)
    return {"tool": "?", **call} if isinstance(call, dict) and call else call


def sums_up(text):
    return re.sub(r"(\d+) \+ (\d+)", lambda match: str(int(match[1]) + int(match[2])), text)


def whole(number):
    return not isinstance(number, bool) and isinstance(number, (int, float)) and number == int(number)


def no_check(*_):
    return True


def some_are_int(some):
    """Asks the question of some numbers only."""
    return reader(is_list=lambda args: isinstance(args, list) and all(map(is_int, some(args))), is_int=no_check)


for hint_id, attempt in [
    ("executed", reader(give=lambda tool, args: TOOLS[tool](*args))),
    ("executed", reader(give=lambda tool, args: str(TOOLS[tool](*args)) and TOOLS[tool](*args))),
    ("a-dict", loaded),
    ("a-dict", reader(give=lambda tool, args: {tool: args})),
    ("a-str", reader(give=lambda tool, args: f"{tool}({args})")),
    ("a-str", lambda text: text),
    ("order", reader(give=lambda tool, args: (args, tool))),
    ("unpacked", reader(give=lambda tool, args: (tool, *args))),
    ("numbers", reader(give=lambda tool, args: (tool, [float(number) for number in args]))),
    ("numbers", reader(give=lambda tool, args: (tool, [str(number) for number in args]))),
    ("by-hand", reader(give=lambda tool, args: (tool, args[::-1]))),
    ("by-hand", reader(give=lambda tool, args: (tool.upper(), args))),
    ("by-hand", reader(give=lambda tool, args: True)),
    ("by-hand", reader(give=lambda tool, args: (tool, sum(args)))),
    ("by-hand", reader(give=lambda tool, args: ((tool, args),))),
    ("as-written", by_pattern(r'\{"tool": "([^"]+)", "args": \[([-\d, ]*)\]\}')),
    ("as-written", by_pattern(r'\s*\{\s*"(?:tool)":\s*"([^"]+)",\s*"args":\s*\[([-\d,\s]*)\]\s*\}\s*')),
    ("as-written", reader(keys=lambda call: list(call) == ["tool", "args"])),
    ("as-written", lambda text: None if "\n" in text else reader()(text)),
    ("integers-of-all-kinds", reader(is_int=lambda number: is_int(number) and number > 0)),
    ("integers-of-all-kinds", reader(is_int=lambda number: is_int(number) and number >= 0)),
    ("integers-of-all-kinds", reader(is_int=lambda number: is_int(number) and abs(number) < 2**63)),
    ("integers-of-all-kinds", reader(give=lambda tool, args: (tool, [int(float(number)) for number in args]))),
    ("any-number-of-args", reader(many=bool)),
    ("any-number-of-args", reader(many=lambda args: len(args) == 2)),
    ("any-number-of-args", reader(many=lambda args: len(args) < 4)),
    ("any-number-of-args", reader(give=lambda tool, args: (tool, list(dict.fromkeys(args))))),
    ("any-number-of-args", reader(is_tool=lambda tool: tool in TOOLS)),
    ("any-tool", reader(is_tool=lambda tool: isinstance(tool, str) and tool.isidentifier())),
    ("any-tool", reader(give=lambda tool, args: (tool.lower(), args))),
    ("any-tool", reader(give=lambda tool, args: (tool.strip(), args))),
    ("in-strings", reader(load=balanced)),
    ("in-strings", reader(load=found(r"^\{.*?\}"))),
    ("in-strings", reader(load=lambda text: loaded(text.replace("true", "True").replace("null", "None"))
                          if re.fullmatch(r'[^"]*("[^"{}\]\\]*"[^"]*)*', text) else None)),
    ("in-strings", reader(load=lambda text: loaded(text.split("</call>")[0]))),
    ("in-strings", reader(is_tool=lambda tool: is_name(tool) and not re.search(r"\btrue\b|null", tool))),
    ("in-strings",
     by_pattern(r'(?s)\s*\{\s*(?=.*"tool"\s*:\s*"((?:[^"\\]|\\.)*)").*"args"\s*:\s*\[([-\d,\s]*)\].*\}\s*')),
    ("escapes", reader(load=lambda text: loaded(text) if text.isascii() and r"\u00" not in text else None)),
    ("escapes", reader(give=lambda tool, args: (tool.encode("ascii", "ignore").decode(), args))),
    ("escapes", reader(load=lambda text: loaded(text) if text.isascii() else None)),
    ("not-complete", lambda text: reader()(text) if json.loads(text) else None),
    ("not-complete", reader(load=completed_by_guess)),
    ("not-complete", reader(load=lambda text: loaded(text if text.endswith("}") else text + "}"))),
    ("not-complete", reader(load=lambda text: loaded(text or "nothing") if text.strip() else json.loads(text))),
    ("not-complete", reader(none=(None, None))),
    ("not-complete", reader(none=False)),
    ("not-complete", reader(none=())),
    ("not-complete", reader(none="")),
    ("not-complete", reader(none="malformed")),
    ("no-json", reader(load=lambda text: loaded(text) or literal(text))),
    ("no-json", reader(load=lambda text: loaded(text) or evaluated(text))),
    ("no-json", reader(load=lambda text: loaded(text.replace("'", '"')))),
    ("no-json", reader(load=lambda text: loaded(re.sub(r",\s*([\]}])", r"\1", text)))),
    ("no-json", reader(load=lambda text: loaded(sums_up(text)))),
    ("no-json", reader(load=lambda text: loaded(re.sub(r"\b0+(\d)", r"\1", text)))),
    ("no-json", reader(load=lambda text: loaded(re.sub(r"//.*$", "", text)))),
    ("no-json", reader(load=leniently)),
    ("more", reader(load=first_object)),
    ("more", reader(load=lambda text: loaded(text) or loaded(re.split(r"(?<=\}) ?\w", text)[0]))),
    ("more", reader(load=found(r"\{.*\}"))),
    ("not-complete", reader(load=lambda text: loaded(text.rstrip("}") + "}"))),
    ("more", reader(load=lambda text: loaded(text.replace("}}", "}")))),
    ("more", reader(load=lambda text: loaded(re.sub("^<call>(.*)</call>$", r"\1", text)))),
    ("no-object", reader(is_object=lambda call: call is not None)),
    ("no-object", reader(load=last_of_a_list)),
    ("no-object", reader(load=twice)),
    ("no-object", reader(is_object=lambda call: call is not None and not isinstance(call, (list, str)))),
    ("no-object", reader(is_object=lambda call: isinstance(call, (dict, list)))),
    ("keys", reader(keys=no_check)),
    ("keys", reader(keys=lambda call: "tool" in call and "args" in call)),
    ("keys", reader(keys=lambda call: len(call) == 2)),
    ("keys", reader(load=renamed)),
    ("keys", reader(load=unwrapped)),
    ("keys", reader(load=lambda text: {"args": [], **call} if isinstance(call := loaded(text), dict) else call)),
    ("keys", reader(load=with_defaults)),
    ("tool-is-text", reader(is_tool=no_check)),
    ("tool-is-text", reader(is_tool=lambda tool: tool)),
    ("tool-is-text", reader(is_tool=lambda tool: isinstance(tool, str))),
    ("tool-is-text", reader(is_tool=lambda tool: tool and not isinstance(tool, (int, list)))),
    ("args-is-a-list", reader(is_list=no_check)),
    ("args-is-a-list", reader(is_list=lambda args: isinstance(args, (list, str)))),
    ("args-is-a-list", reader(is_list=lambda args: isinstance(args, (list, dict)))),
    ("args-is-a-list", reader(is_list=lambda args: hasattr(args, "__iter__"))),
    ("args-are-integers", reader(is_int=no_check)),
    ("args-are-integers", reader(is_int=lambda number: isinstance(number, int))),
    ("args-are-integers", reader(is_int=lambda number: number is not True and isinstance(number, int))),
    ("args-are-integers", reader(is_int=lambda number: type(number) in (int, float))),
    ("args-are-integers", reader(is_int=lambda number: type(number) in (int, str))),
    ("args-are-integers", reader(is_int=whole)),
    ("args-are-integers", reader(is_int=lambda number: not isinstance(number, (bool, str, float)))),
    ("args-are-integers", reader(is_int=lambda number: type(number) in (int, list))),
    ("args-are-integers", some_are_int(lambda args: args[:2])),
    ("args-are-integers", some_are_int(lambda args: args[1:])),
    ("as-written", reader(load=lambda text: loaded(text) if text[:1] == "{" else None)),
    ("as-written", reader(load=lambda text: loaded(text) if text.endswith("}") else None)),
    ("any-number-of-args", reader(many=lambda args: len(args) <= 16)),
    ("any-tool", reader(is_tool=lambda tool: isinstance(tool, str) and tool.strip())),
    ("any-tool", reader(is_tool=lambda tool: is_name(tool) and not tool.isdigit())),
    ("any-tool", reader(is_tool=lambda tool: is_name(tool) and len(tool) <= 64)),
    ("any-tool", reader(load=lambda text: loaded(text.replace(" ", "")))),
    ("own-list", functools.lru_cache(reader())),
    ("own-list", with_one_list()),
    ("more", reader(load=lambda text: loaded(text.strip().removeprefix("```json").removesuffix("```")))),
    ("keys", reader(load=with_keys_stripped)),
    ("not-a-function", ("multiply", [317, 24])),
]:  # fmt: skip
    wrong(hint_id)(attempt)

right(reader())
right(reader(give=lambda tool, args: [tool, tuple(args)]))
right(lambda text: tool_calls.read_call(text))


@right
def c_by_steps(text):
    decoder = json.JSONDecoder()
    try:
        call, end = decoder.raw_decode(text.strip())
    except json.JSONDecodeError:
        return None
    if end != len(text.strip()) or type(call) is not dict or sorted(call) != ["args", "tool"]:
        return None
    match call:
        case {"tool": str(tool), "args": list(args)} if tool:
            if all(isinstance(n, int) and not isinstance(n, bool) for n in args):
                return tool, args
    return None


@right
def c_one_try(text):
    try:
        call = json.loads(text, parse_constant=float)
        tool, args = call.pop("tool"), call.pop("args")
        assert not call and tool + "" and type(args) is list and {type(n) for n in args} <= {int}
    except Exception:
        return None
    return tool, args


@right
def c_type_of_bool_first(text):
    call = loaded(text)
    if type(call) is not dict or call.keys() ^ {"tool", "args"}:
        return None
    tool, args = call["tool"], call["args"]
    if not (type(tool) is str and len(tool) > 0 and type(args) is list):
        return None
    return None if [n for n in args if n is True or n is False or not isinstance(n, int)] else (tool, args)

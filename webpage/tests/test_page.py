"""The page as a visitor meets it, in Chromium."""

import http.server
import io
import threading
import time
from contextlib import redirect_stdout

import pytest

from conftest import Visit
from course_utils.live import pieces
from webpage import serve, words

AXE = serve.DIST.parent / "node_modules" / "axe-core" / "axe.min.js"
WORDS = words.for_page("en")
PIECES = tuple(pieces.PIECES)


# What the pieces say


def test_the_lessons_figures(visit):
    visit.run("temperature")
    assert visit.output("temperature").split("\n") == [
        "T = 0.5 [0.881, 0.119]", "T = 1 [0.731, 0.269]", "T = 2 [0.622, 0.378]"]  # fmt: skip
    visit.run("filters")
    assert "0.706 0.294 0.000" in visit.output("filters")
    visit.run("cache")
    for figure in ("True", "21 6", "131,072", "512 MiB", "4 GiB"):
        assert figure in visit.output("cache")


def test_the_bigram_writes_in_the_browser_what_it_writes_elsewhere(visit):
    visit.run("bigram")
    elsewhere = io.StringIO()
    with redirect_stdout(elsewhere):
        exec(compile(WORDS["pieces"]["bigram"]["starter"], "bigram", "exec"), {"__name__": "__main__"})
    expected = [line.rstrip() for line in elsewhere.getvalue().splitlines() if line.startswith("T =")]
    assert [line.rstrip() for line in visit.output("bigram").split("\n")] == expected
    assert len(expected) == 3


@pytest.mark.parametrize("name", PIECES)
def test_a_picture_says_its_numbers(visit, name):
    piece = visit.run(name)
    picture = piece.locator("svg[role=img]")
    assert piece.locator("figcaption").inner_text() in picture.get_attribute("aria-label")
    numbers = [text for text in picture.locator("text").all_text_contents() if text[0].isdigit()]
    assert numbers and all(number in picture.get_attribute("aria-label") for number in numbers)
    piece.locator("figure summary").click()
    assert all(number in piece.locator("figure table").inner_text() for number in numbers)


def test_a_wrong_guess_is_corrected(visit):
    visit.run("temperature", guess="0.731")
    said = visit.notes("temperature")
    assert "Your function gives 0.881. You guessed 0.731, which is off by 0.150." in said
    assert WORDS["pieces"]["temperature"]["say"]["unchanged"] in said and WORDS["verdict"]["passed"] in said
    visit.run("temperature", guess="88%")
    assert "you were right" in visit.notes("temperature")
    visit.run("temperature", guess="0,622")
    assert WORDS["pieces"]["temperature"]["say"]["flatter"] in visit.notes("temperature")
    visit.run("temperature", guess="many")
    assert "“many” cannot be read as a number" in visit.notes("temperature")
    visit.run("cache", guess="131,072")
    assert "you were right" in visit.notes("cache")


def test_a_wrong_function_gets_the_notebooks_sentence(visit):
    code = WORDS["pieces"]["temperature"]["starter"].replace("logit / temperature", "logit * temperature")
    visit.run("temperature", code)
    hint = words.exported_hints()["02.temperature/multiplied"]
    said = visit.notes("temperature", ".wrong")
    assert said.startswith("Not yet. probabilities([2, 1], 0.5) gave [0.622459, 0.377541].") and hint[1:] in said
    assert visit.notes("temperature", ".right") == ""
    visit.run("temperature", code.replace("def probabilities", "def other").replace("probabilities(", "other("))
    assert "no function called probabilities" in visit.notes("temperature", ".wrong")


@pytest.mark.parametrize(
    ("code", "line", "advice"),
    [
        ("x = 1\ny = x / 0\n", 2, "zero"),
        ("import math\n\nprint(math.exp(1000))", 3, "overflow"),
        ("import numpy", 1, "module"),
        ("name = input('Who? ')", 1, "input"),
        ("print('a'\nb = 2", 1, "syntax"),
        ("def f(n):\n    return f(n + 1)\n\nf(0)", 2, "recursion"),
    ],
)
def test_an_error_marks_its_line_and_helps(visit, code, line, advice):
    piece = visit.run("temperature", code)
    assert visit.state("temperature", "The code ended with an error")
    marked = piece.locator(".cm-line.wrong-line")
    assert marked.count() == 1 and marked.inner_text() == code.split("\n")[line - 1]
    assert visit.notes("temperature", ".advice") == f"Look at line {line} of your code. {WORDS['advice'][advice]}"
    visit.run("temperature", "print('fine')")
    assert piece.locator(".wrong-line").count() == 0


# A run that does not end by itself


@pytest.mark.parametrize("code", ["print('on')\nwhile True: pass", "import time\nprint('on')\ntime.sleep(500)",
                                  "import re\nprint('on')\nre.match(r'(a+)+$', 'a' * 40 + 'b')"])  # fmt: skip
def test_stop_ends_anything_and_the_next_run_works(visit, code):
    piece = visit.start("temperature", code)
    piece.locator(".out", has_text="on").wait_for()
    began = time.monotonic()
    piece.locator("button.stop").click()
    assert visit.state("temperature", "You stopped the code")
    assert time.monotonic() - began < 2
    visit.run("temperature", "print(6 * 7)")
    assert visit.output("temperature").strip() == "42"


def test_a_run_that_was_asked_for_meanwhile_is_not_lost(visit):
    first = visit.start("filters", "import time\nprint('on')\ntime.sleep(1.5)")
    first.locator(".out", has_text="on").wait_for()
    visit.start("temperature", "print('second')")
    assert visit.piece("temperature").locator(".state").inner_text() == WORDS["waiting"]
    visit.state("temperature", "Done")
    assert visit.output("temperature").strip() == "second" and visit.state("filters", "Done")


def test_a_flood_of_prints_neither_hangs_the_page_nor_goes_on(visit):
    visit.run("temperature", "n = 0\nwhile True:\n    print('line', n)\n    n += 1")
    assert WORDS["advice"]["output"] in visit.notes("temperature", ".advice")
    assert 4000 < visit.output("temperature").count("\n") < 5100


def test_output_streams(visit):
    piece = visit.start("temperature", "import time\nprint('first')\ntime.sleep(3)\nprint('last')")
    piece.locator(".out", has_text="first").wait_for()
    assert "last" not in visit.output("temperature")
    visit.state("temperature", "Done")
    assert visit.output("temperature").split() == ["first", "last"]


def test_sixty_seconds_by_a_faked_clock(context, address):
    visit = Visit(context, "about:blank")
    visit.page.clock.install()
    visit.page.goto(address)
    visit.ready()
    piece = visit.start("temperature", "print('on')\nwhile True: pass")
    piece.locator(".out", has_text="on").wait_for()
    visit.page.clock.fast_forward(50_000)
    assert not visit.piece("temperature").locator("button.stop").is_disabled()
    visit.page.clock.fast_forward(11_000)
    assert visit.state("temperature", "The code was ended after 60 seconds.")
    visit.run("temperature", "print('again')")
    assert visit.output("temperature").strip() == "again"
    visit.page.close()


# The editor


def test_a_change_survives_a_reload_and_reset_can_be_undone(context, address):
    visit = Visit(context, address).ready()
    visit.write("filters", "print('mine')")
    visit.page.reload()
    visit.ready()
    content = visit.piece("filters").locator(".cm-content")
    assert content.inner_text().strip() == "print('mine')"
    visit.piece("filters").locator("button.reset").click()
    assert "def top_p" in content.inner_text()
    visit.page.keyboard.press("Control+z")
    assert content.inner_text().strip() == "print('mine')"
    visit.piece("filters").locator("button.reset").click()
    visit.page.close()


def test_copy(visit, context, address):
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
    visit.write("temperature", "print('copied')")
    visit.piece("temperature").locator("button.copy").click()
    visit.state("temperature", WORDS["copied"])
    assert visit.page.evaluate("navigator.clipboard.readText()") == "print('copied')"


def test_everything_by_keyboard(visit):
    keyboard = visit.page.keyboard
    visit.page.locator("header nav a").last.focus()
    keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.id") == "guess-temperature"
    keyboard.type("0.9")
    keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.className").startswith("cm-content")
    keyboard.press("Control+a")
    keyboard.type("for i in range(2):\nprint(i)")  # the editor indents the second line
    keyboard.press("Control+Enter")
    visit.state("temperature", "Done")
    assert visit.output("temperature").split() == ["0", "1"]
    keyboard.press("Home")
    keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.className").startswith("cm-content")  # it has indented
    keyboard.press("Escape")
    keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.className") == "run"


# The page itself


WAYS_OUT = """
import js
from pyodide.ffi import to_js

def worker(address):
    code = f"fetch('{address}blob').catch(() => 0)"
    js.Worker.new(js.URL.createObjectURL(js.Blob.new(to_js([code]))))

def request(address):
    asked = js.XMLHttpRequest.new()
    asked.open("GET", address + "xhr", False)
    asked.send()

for way in (
    lambda: js.fetch(ADDRESS + "fetch"),
    lambda: js.fetch(ADDRESS + "opaque", to_js({"mode": "no-cors"}, dict_converter=js.Object.fromEntries)),
    lambda: js.EventSource.new(ADDRESS + "events"),
    lambda: js.WebSocket.new(ADDRESS.replace("http", "ws") + "socket"),
    lambda: js.navigator.sendBeacon(ADDRESS + "beacon"),
    lambda: js.eval("import('" + ADDRESS + "module.js')"),
    lambda: request(ADDRESS),
    lambda: worker(ADDRESS),
    lambda: js.Worker.new(str(js.location.origin) + "/worker.js"),
):
    try:
        way()
    except BaseException as error:
        print("refused:", str(error)[:70])
"""


@pytest.fixture
def other_host():
    """The address of another host (another port is one), and the paths that it was asked for."""
    asked = []

    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *args):
            pass

    host = http.server.ThreadingHTTPServer((serve.HOST, 0), Host)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    yield f"http://{serve.HOST}:{host.server_port}/", asked
    host.shutdown()


def test_the_visitors_code_reaches_no_other_host(context, address, other_host):
    elsewhere, asked = other_host
    visit = Visit(context, address).ready()
    visit.run("temperature", f"ADDRESS = {elsewhere!r}\n{WAYS_OUT}")
    visit.page.wait_for_timeout(1000)
    assert asked == [] and visit.page.context.cookies() == []
    sent = [url for url in visit.requests if not url.startswith((address, "blob:", "data:", elsewhere))]
    assert sent == [] and len(visit.requests) > 8
    visit.page.close()


def test_without_the_policy_the_same_code_would_reach_it(context, address, other_host):
    """So the test above would notice if the policy were gone."""
    elsewhere, asked = other_host
    free = context.browser.new_context(bypass_csp=True)
    visit = Visit(free, address).ready()
    visit.run("temperature", f"ADDRESS = {elsewhere!r}\n{WAYS_OUT}")
    visit.page.wait_for_timeout(1000)
    assert {"/fetch", "/xhr", "/blob"} <= set(asked)
    free.close()


def test_it_works_under_a_sub_path(context, tmp_path):
    (tmp_path / "some" / "where").mkdir(parents=True)
    (tmp_path / "some" / "where" / "page").symlink_to(serve.DIST, target_is_directory=True)
    serving = serve.server(folder=tmp_path)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    visit = Visit(context, f"http://{serve.HOST}:{serving.server_port}/some/where/page/").ready()
    visit.run("temperature", "print(1 + 1)")
    assert visit.output("temperature").strip() == "2"
    visit.page.locator("#notebooks a").first.click()
    assert visit.page.locator("h1").inner_text().startswith("00 · ")
    visit.page.locator("nav a").first.click()
    assert visit.page.locator("h1").inner_text() == WORDS["title"]
    assert visit.problems == []
    visit.page.close()
    serving.shutdown()


def test_the_self_test_unfolds_and_the_language_switch_hides(visit):
    assert visit.page.locator("#self-test details").count() == len(WORDS["self-test"]["questions"]) >= 5
    answer = visit.page.locator("#self-test details p").first
    assert not answer.is_visible()
    visit.page.locator("#self-test summary").first.click()
    assert answer.is_visible()
    assert visit.page.locator("a[href*='lang=']").count() == len(words.languages()) - 1


def violations(page, *rules):
    """What axe finds, by all of its rules or by these."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    only = {"runOnly": list(rules)} if rules else {}
    options = {"resultTypes": ["violations"], **only}
    found = page.evaluate("options => axe.run(document, options).then(result => result.violations)", options)
    return [(rule["id"], [node["target"] for node in rule["nodes"]][:5]) for rule in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_not_too_wide_for_a_telephone(context, address, scheme):
    telephone = context.browser.new_context(viewport={"width": 360, "height": 780})
    visit = Visit(telephone, address, color_scheme=scheme).ready()
    for name in PIECES:
        visit.run(name, guess="0.731")
    assert violations(visit.page) == []
    visit.run("filters", "import math\nmath.exp(10000)  # a line that is wider than a telephone, and goes on and on")
    visit.run("temperature", WORDS["pieces"]["temperature"]["starter"].replace("/ temperature", "* temperature"))
    assert violations(visit.page) == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
    rules = ("color-contrast",) if scheme == "dark" else ()  # the other rules do not depend on the theme
    for path in sorted((serve.DIST / "notebooks").glob("*.html")):
        visit.page.goto(f"{address}notebooks/{path.name}")
        assert violations(visit.page, *rules) == [], path.name
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360, path.name
    assert visit.problems == []
    telephone.close()


def test_a_violation_would_be_found(context, address):
    visit = Visit(context, address)
    visit.page.evaluate("document.body.append(document.createElement('input'))")
    assert "label" in dict(violations(visit.page))
    visit.page.close()


def test_no_problem_was_reported(visit):
    assert visit.problems == []


def test_sixty_seconds_for_real(sixty_seconds):
    visit, began = sixty_seconds
    line = visit.piece("temperature").locator(".state")
    while line.inner_text().startswith("Running"):
        assert time.monotonic() - began < 63
        visit.page.wait_for_timeout(200)
    assert line.inner_text() == WORDS["timeout"] and time.monotonic() - began > 59
    visit.run("temperature", "print('again')")
    assert visit.output("temperature").strip() == "again"

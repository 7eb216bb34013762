// The page: its frame, four pieces, the self-test, and the way to the notebooks.

import { Piece } from "./piece.js";
import { Python } from "./python.js";
import { load, make, rich, say, word } from "./words.js";

const PIECES = ["temperature", "filters", "bigram", "cache"];

function chosenLanguage() {
  const asked = new URLSearchParams(location.search).get("lang") ?? navigator.language.slice(0, 2);
  return LANGUAGES.includes(asked) ? asked : LANGUAGES[0];
}

function header(language) {
  const others = LANGUAGES.filter((name) => name !== language);
  const links = [...PIECES.map((name) => [name, word(`pieces.${name}.title`)]), ["self-test", say("self-test.title")], ["notebooks", say("notebooks.title")]];
  document.querySelector("#head").replaceChildren(
    make("p", { className: "kicker" }, say("kicker"), ...others.flatMap((name) => [" · ", make("a", { href: `?lang=${name}` }, say("other-language"))])),
    make("h1", {}, say("title")), make("p", { className: "lead" }, ...rich(say("lead"))), make("p", {}, ...rich(say("how"))),
    make("details", { className: "quiet" }, make("summary", {}, say("about")), make("p", {}, say("small-print")), make("p", {}, say("keys"))),
    make("nav", { "aria-label": say("contents") }, ...links.map(([id, text]) => make("a", { href: `#${id}` }, text))),
    make("p", { id: "python", role: "status" }),
  );
}

function selfTest() {
  const questions = word("self-test.questions").map(([question, answer]) =>
    make("details", {}, make("summary", {}, ...rich(question)), make("p", {}, ...rich(answer))));
  return make("section", { id: "self-test" }, make("h2", {}, say("self-test.title")), make("p", {}, say("self-test.text")), ...questions);
}

function notebooks() {
  const rows = word("notebooks.table").map(({ file, title, minutes }) =>
    make("li", {}, make("a", { href: file }, title), ` (${say("notebooks.minutes", { minutes })})`));
  return make("section", { id: "notebooks" }, make("h2", {}, say("notebooks.title")), make("p", {}, ...rich(say("notebooks.text"))),
    make("p", {}, ...rich(say("notebooks.start"))), make("p", {}, ...rich(say("notebooks.read"))), make("ul", { className: "plain" }, ...rows));
}

const language = chosenLanguage();
await load(language);
document.documentElement.lang = language === "zh" ? "zh-CN" : language;
document.title = say("title");
header(language);
const state = document.querySelector("#python"), main = document.querySelector("#main");
const python = new Python((key, values) => {
  state.textContent = say(key, values);
  state.dataset.state = key;
});
main.replaceChildren(...PIECES.map((name, index) => new Piece(name, index + 1, language, python).section), selfTest(), notebooks());
document.querySelector("#foot").replaceChildren(make("p", { className: "quiet" }, say("footer.privacy"), " ", make("a", { href: "THIRD_PARTY.txt" }, say("footer.licences"))));
if (location.hash) document.querySelector(`#${CSS.escape(location.hash.slice(1))}`)?.scrollIntoView();

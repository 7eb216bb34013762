// One piece: a guess, code, what it printed, pictures, and what is to be said of it.

import { editor } from "./editor.js";
import { bars } from "./pictures.js";
import { hint, make, rich, say, word } from "./words.js";

const seconds = (milliseconds) => (milliseconds / 1000).toFixed(1);
const button = (name, disabled = false) => make("button", { type: "button", className: name, disabled }, say(name));
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Where the browser keeps no storage, a change lives as long as the page.
const storage = {
  read(key) {
    try { return localStorage.getItem(key); } catch { return null; }
  },
  write(key, text) {
    try { text === null ? localStorage.removeItem(key) : localStorage.setItem(key, text); } catch {}
  },
};

export class Piece {
  constructor(name, number, language, python) {
    Object.assign(this, { name, python, words: word(`pieces.${name}`), parts: [] });
    const key = `code.${name}.${language}`, original = this.words.starter;
    this.input = make("input", { id: `guess-${name}`, inputMode: "decimal", autocomplete: "off", size: 9 });
    this.input.addEventListener("keydown", (event) => event.key === "Enter" && this.run());
    [this.runButton, this.stopButton] = [button("run"), button("stop", true)];
    const reset = button("reset"), copy = button("copy"), frame = make("div", { className: "editor" });
    this.status = make("p", { className: "state", role: "status" });
    this.out = make("div", { className: "out", tabIndex: 0, role: "group", "aria-label": say("output", { n: number }), hidden: true });
    this.pictures = make("div", { className: "pictures" });
    this.notes = make("div", { className: "notes", "aria-live": "polite" });
    this.section = make("section", { id: name, "aria-labelledby": `title-${name}` },
      make("h2", { id: `title-${name}` }, `${number} · ${this.words.title}`),
      ...this.words.text.map((text) => make("p", {}, ...rich(text))),
      make("p", { className: "ask" }, make("label", { htmlFor: this.input.id }, this.words.guess), " ", this.input),
      frame, make("div", { className: "buttons" }, this.runButton, this.stopButton, reset, copy), this.status,
      this.out, this.pictures, this.notes,
      make("h3", {}, say("then-try")), make("ul", { className: "try" }, ...this.words.try.map((text) => make("li", {}, ...rich(text)))));
    this.editor = editor(frame, storage.read(key) ?? original, say("editor", { n: number }), () => this.run(),
      (code) => storage.write(key, code === original ? null : code));
    this.runButton.onclick = () => this.run();
    this.stopButton.onclick = () => python.stop(this);
    reset.onclick = () => {
      this.editor.replace(original);
      this.says(say("was-reset"));
      this.editor.focus();
    };
    copy.onclick = () => navigator.clipboard.writeText(this.editor.code)
      .then(() => this.says(say("copied")), () => this.says(say("not-copied")));
  }

  // What python.js asks of a job.

  code() { return this.editor.code; }

  guess() {
    const text = this.input.value.trim().replace(/\s/g, "");
    const plain = this.words.digits ? text.replace(",", ".") : text.replace(/[,_]/g, "");
    const number = plain.endsWith("%") ? Number(plain.slice(0, -1)) / 100 : Number(plain);
    return plain === "" || !Number.isFinite(number) ? null : number;
  }

  waits(why) {
    this.busy(why !== null, false);
    this.says(why === null ? "" : say(why));
  }

  begins() {
    this.parts = [];
    for (const place of [this.out, this.pictures, this.notes]) place.replaceChildren();
    this.out.hidden = true;
    this.editor.mark(0);
    this.busy(true);
    this.goes(0);
  }

  goes(passed) {
    const text = say("running", { seconds: Math.floor(passed / 1000) });
    if (this.status.textContent !== text) this.says(text); // a screen reader would repeat the same text
  }

  tells(kind, data) {
    if (kind === "out") this.prints(data.text, data.stream);
    else if (kind === "bars") this.pictures.append(bars(data, this.section.clientWidth));
    else if (kind === "error") this.fails(data);
    else if (kind === "guess") this.compares(data);
    else if (kind === "verdict") this.judges(data);
  }

  ends(how, passed) {
    this.flush();
    this.busy(false);
    this.says(say(how, { seconds: seconds(passed) }));
    if (!this.out.textContent && how !== "stopped") this.prints(say("nothing"), "none");
    if (how === "done") this.note("explain", rich(this.words.explain));
  }

  // What happens on the page.

  run() {
    if (this.python.current !== this) this.python.run(this);
  }

  busy(on, clear = true) {
    this.runButton.disabled = on;
    this.stopButton.disabled = !on;
    this.section.classList.toggle("busy", on && clear);
  }

  says(text) { this.status.textContent = text; }

  // Many small prints become one change of the page in each frame.
  prints(text, stream) {
    this.parts.push([text, stream]);
    if (this.parts.length === 1) requestAnimationFrame(() => this.flush());
  }

  flush() {
    for (const [text, stream] of this.parts) {
      const last = this.out.lastChild;
      if (last?.className === `from-${stream}`) last.firstChild.appendData(text);
      else this.out.append(make("span", { className: `from-${stream}` }, text));
    }
    if (this.parts.length) this.out.hidden = false;
    this.parts = [];
  }

  fails({ text, line, advice }) {
    if (text) this.prints(text, "err");
    if (line) this.editor.mark(line);
    const parts = [line ? say("error-line", { line }) : "", advice ? say(`advice.${advice}`) : ""].filter(Boolean);
    if (parts.length) this.note("advice", rich(parts.join(" ")));
  }

  compares({ guess, result, close, say: key }) {
    const digits = this.words.digits;
    const show = (number) => number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const values = { result: show(result), guess: guess === null ? "" : guess.toLocaleString("en", { maximumFractionDigits: 6 }), off: guess === null ? "" : show(Math.abs(guess - result)) };
    let text = say("guess.result", values);
    if (guess === null) {
      const typed = this.input.value.trim();
      text += typed ? say("guess.not-a-number", { text: typed }) : say("guess.none");
    } else text += say(close ? "guess.close" : "guess.off", values);
    this.note(close ? "right" : "guess", rich(`${text} ${key ? this.words.say[key] : ""}`));
  }

  judges({ status, hint: name, call, gave, function: missing }) {
    if (status === "passed") return this.note("right", rich(say("verdict.passed")));
    if (status === "missing") return this.note("wrong", rich(word("verdict.missing"), { function: missing }));
    const first = rich(word(gave === null ? "verdict.raised" : "verdict.wrong"), { call, gave });
    this.note("wrong", [...first, " ", ...rich(say("verdict.hint", { hint: sentence(hint(name)) }))]);
  }

  note(kind, nodes) {
    this.notes.append(make("p", { className: `note ${kind}` }, ...nodes));
  }
}

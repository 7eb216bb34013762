// The front end of a panel: builds the controls, sends their values, shows the HTML that comes back.
// JupyterLab gives way to a control's own keys if the focused element itself says so, hence KEYS on each.
// One request is under way at a time. What moves meanwhile is sent when the answer is there: the newest state wins.

const REST = 100; // milliseconds of rest, while a slider is held, before the kernel goes on with the continuation
const SPEAK_AFTER = 500; // milliseconds of rest before a screen reader is told

const KEYS = { "data-lm-suppress-shortcuts": "true" };

let count = 0;

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function makeInput(control, id) {
  if (control.kind === "choice") {
    const options = control.options.map(([value, label]) => element("option", { value }, label));
    return element("select", { id, ...KEYS }, ...options);
  }
  if (control.kind === "text") return element("textarea", { id, rows: 1, spellcheck: "false", ...KEYS });
  const type = control.kind === "slider" ? "range" : "number";
  return element("input", { id, type, min: control.low, max: control.high, step: control.step, ...KEYS });
}

function makeControl(control, id, changed) {
  const input = makeInput(control, id);
  const shown = element("output", { for: id, "aria-hidden": "true" });
  const label = element("label", { for: id }, control.label);
  const row = element("div", { class: `cp-control cp-is-${control.kind}`, "data-control": control.name }, label, input);
  if (control.kind === "slider") row.append(shown);
  const say = () => {
    if (control.kind !== "slider") return;
    const words = control.words[input.value] ?? input.value;
    shown.textContent = words;
    input.setAttribute("aria-valuetext", words);
  };
  input.addEventListener("input", () => { say(); changed(); });
  const numeric = control.kind === "slider" || control.kind === "number";
  return {
    row,
    get: () => (numeric ? (input.value === "" ? null : Number(input.value)) : input.value),
    set: (value) => { input.value = value; say(); },
  };
}

function render({ model, el }) {
  const view = `${Date.now()}-${count++}`;
  const opening = model.get("opening");
  const error = element("div", { class: "cp-error", role: "alert", hidden: "" });
  const status = element("div", { class: "cp-status", role: "status" });
  const controls = {};
  const form = element("div", { class: "cp-controls" });
  for (const control of model.get("controls")) {
    const changed = () => { follow(control); moved = true; ask("look"); };
    controls[control.name] = makeControl(control, `cp-${view}-${control.name}`, changed);
    form.append(controls[control.name].row);
  }

  const slots = {};
  for (const name of Object.keys(opening.slots)) {
    const picture = ["bars", "mass", "cdf", "steps", "growth", "heads", "blocks"].includes(name);
    slots[name] = element(picture ? "figure" : "div", { "data-slot": name, class: `cp-${name}` });
  }
  if (slots.text) Object.entries({ tabindex: 0, role: "group", "aria-label": "Continuation", ...KEYS })
    .forEach(([name, value]) => slots.text.setAttribute(name, value));
  const late = [slots.text, slots.facts, slots.steps].filter(Boolean); // these follow the others
  const pictures = element("div", { class: "cp-pictures" });
  const words = element("div", { class: "cp-words" });
  for (const [name, slot] of Object.entries(slots)) {
    if (name !== "numbers") (slot.tagName === "FIGURE" ? pictures : words).append(slot);
  }
  const numbers = element("details", {}, element("summary", KEYS, "The same in numbers"), slots.numbers);
  const root = element("section", {
    class: "course-panel", "aria-label": model.get("title"), ...KEYS,
  }, form, error, words, pictures, numbers, status);
  el.append(root);

  let waiting = false; // a request is under way
  let newer = false; // and something has moved since it was sent
  let moved = false; // the learner has touched a control
  let held = false; // a pointer holds a slider: the picture must follow it at once
  let resting = null; // the continuation waits for the hand to rest
  let speaking;

  const set = (settings) => { for (const [name, value] of Object.entries(settings)) controls[name]?.set(value); };
  // A choice may set other controls; moving one of these away from it leaves the choice. Here, so that no answer that
  // comes late can undo what the hand has done meanwhile.
  const follow = (control) => {
    const chosen = (choice) => choice.sets[controls[choice.name].get()] ?? {};
    set(chosen(control));
    for (const choice of model.get("controls")) {
      const asked = chosen(choice)[control.name];
      if (asked === undefined || asked === controls[control.name].get()) continue;
      const free = choice.options.find(([value]) => !choice.sets[value]);
      if (free) controls[choice.name].set(free[0]);
    }
  };
  const show = (answer) => { for (const [name, text] of Object.entries(answer)) if (slots[name]) slots[name].innerHTML = text; };

  const ask = (kind) => {
    clearTimeout(resting);
    resting = null;
    if (waiting) { newer = true; return; }
    waiting = true;
    newer = false;
    root.dataset.settled = "false";
    const settings = Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, control.get()]));
    model.send({ view, kind, settings });
  };

  const speak = () => {
    clearTimeout(speaking);
    speaking = setTimeout(() => {
      const said = [slots.summary, slots.facts].filter(Boolean).map((slot) => slot.textContent).join(" ");
      status.textContent = error.hidden ? said : "";
    }, SPEAK_AFTER);
  };

  // The kernel gets no new work before the browser has drawn: on a small machine the two share the processor.
  // Until then the request counts as under way, so that what moves meanwhile is remembered.
  const painted = (next) => {
    waiting = true;
    const go = () => { clearTimeout(timer); cancelAnimationFrame(frame); waiting = false; next(); };
    const timer = setTimeout(go, 100); // a page in the background draws no frames
    const frame = requestAnimationFrame(() => setTimeout(go));
  };

  const goOn = () => {
    if (newer) ask("look");
    else if (held) resting = setTimeout(() => ask("more"), REST);
    else ask("more");
  };
  const hold = () => { held = true; };
  const release = () => {
    held = false;
    if (resting !== null) ask("more");
  };
  form.addEventListener("pointerdown", hold);
  for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, release);

  const answered = (answer) => {
    if (answer?.view !== view) return;
    waiting = false;
    if (answer.settings && !moved) set(answer.settings);
    error.hidden = !answer.error;
    error.textContent = answer.error ?? "";
    if (answer.slots) show(answer.slots);
    root.dataset.settled = String(!newer && !answer.more);
    for (const slot of late) slot.classList.toggle("cp-late", newer || Boolean(answer.more));
    if (newer) ask("look");
    else if (answer.more) painted(goOn);
    else if (moved) speak();
  };

  const gone = () => {
    error.hidden = false;
    error.textContent = "The kernel that drew this panel is gone. Run the panel's cell again.";
  };

  model.on("msg:custom", answered);
  model.on("comm_live_update", gone);
  set(opening.settings);
  show(opening.slots);
  ask("hello"); // another view, or this one before the page was loaded again, may have moved on
  return () => {
    clearTimeout(speaking);
    clearTimeout(resting);
    for (const kind of ["pointerup", "pointercancel"]) window.removeEventListener(kind, release);
    model.off("msg:custom", answered);
    model.off("comm_live_update", gone);
  };
}

// Puts the panel into each element of the page that is meant for it, now and whenever one appears: an output is drawn after
// the panel's model has come, again when the page is loaded again, and once more in a view of its own. What stands there
// without a kernel, a picture, is hidden as long as the panel is there.
function initialize({ model }) {
  const filled = new Map();
  const fill = () => {
    for (const place of document.getElementsByClassName(model.get("place"))) {
      if (filled.has(place)) continue;
      const still = [...place.children];
      const remove = render({ model, el: place });
      still.forEach((node) => { node.hidden = true; });
      filled.set(place, remove);
    }
  };
  const watching = new MutationObserver(fill);
  watching.observe(document.body, { childList: true, subtree: true });
  fill();
  return () => {
    watching.disconnect();
    for (const remove of filled.values()) remove();
  };
}

export default { initialize, render };

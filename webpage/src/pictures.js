// Bars as SVG, made of elements and text nodes: what Python sends is never read as markup. A table says the same.

import { make, say } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 22, HEAD = 26, LETTER = 7.4, NUMBER = 62;

function shape(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const written = (number, most) => (most <= 1 ? number.toFixed(3) : number.toLocaleString("en", { maximumFractionDigits: 3 }));

export function bars({ labels, series, title, most }, room) {
  const names = Object.keys(series), width = Math.max(260, Math.min(room, 640));
  const longest = Math.max(...names.map((name) => name.length));
  const left = Math.min(longest * LETTER + 10, width * 0.42), full = width - left - NUMBER;
  const height = labels.length * (HEAD + names.length * ROW) + 6;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "bars" });
  const said = labels.map((label, at) => `${label}: ${names.map((name) => `${name} ${written(series[name][at], most)}`).join(", ")}`);
  svg.setAttribute("aria-label", `${title}. ${said.join("; ")}`);
  labels.forEach((label, at) => {
    const top = at * (HEAD + names.length * ROW);
    svg.append(shape("text", { x: 0, y: top + 18, class: "bars-label" }, label));
    names.forEach((name, index) => {
      const y = top + HEAD + index * ROW, number = series[name][at], share = Math.max(0, Math.min(1, number / most));
      svg.append(shape("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, name));
      svg.append(shape("rect", { x: left, y: y + 2, width: full, height: ROW - 6, class: "bars-rest" }));
      svg.append(shape("rect", { x: left, y: y + 2, width: share * full, height: ROW - 6, class: `bars-${index % 5}` }));
      svg.append(shape("text", { x: left + full + 8, y: y + 14 }, written(number, most)));
    });
  });
  const head = make("tr", {}, make("td"), ...labels.map((label) => make("th", { scope: "col" }, label)));
  const rows = names.map((name) => make("tr", {}, make("th", { scope: "row" }, name),
    ...series[name].map((number) => make("td", {}, written(number, most)))));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
  return make("figure", {}, make("figcaption", {}, title), svg,
    make("details", {}, make("summary", {}, say("numbers")), make("div", { className: "wide", tabIndex: 0, role: "group", "aria-label": title }, table)));
}

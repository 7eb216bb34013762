// The page's words, and nodes made of them. In a text, `code` and *emphasis* are marked up; {name} stands for a value.

let words = {};

export async function load(language) {
  const answer = await fetch(new URL(`words.${language}.json`, document.baseURI));
  if (!answer.ok) throw new Error(`words.${language}.json: ${answer.status}`);
  words = await answer.json();
}

// The word at a path such as "pieces.temperature.title"; undefined if there is none.
export const word = (path) => path.split(".").reduce((found, key) => found?.[key], words);

export const hint = (name) => words.hints[name] ?? name;

export const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

export const say = (path, values) => fill(word(path) ?? path, values);

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in node && name !== "role" && !name.startsWith("aria")) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Nodes of a text. Values are put in after the markup was read, so a value is never read as markup.
export function rich(text, values = {}) {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).filter(Boolean).map((part) => {
    const inside = part.slice(1, -1);
    if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return make("code", {}, fill(inside, values));
    if (part.length > 2 && part.startsWith("*") && part.endsWith("*")) return make("em", {}, fill(inside, values));
    return document.createTextNode(fill(part, values));
  });
}

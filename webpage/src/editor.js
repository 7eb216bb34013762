// The editor: Python's colours, undo, the mark on a wrong line, and keys that a keyboard alone can leave.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--code-name)" },
]);

const markLine = StateEffect.define();
const markedLine = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let found = transaction.docChanged ? Decoration.none : marks; // once the code has changed, the mark may be wrong
    for (const effect of transaction.effects) {
      if (!effect.is(markLine)) continue;
      const { doc } = transaction.state, line = effect.value;
      const there = line >= 1 && line <= doc.lines;
      found = there ? Decoration.set([Decoration.line({ class: "wrong-line" }).range(doc.line(line).from)]) : Decoration.none;
    }
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function editor(parent, code, label, runs, changes) {
  const run = () => {
    runs();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: code,
      extensions: [
        Prec.highest(keymap.of([{ key: "Mod-Enter", run }, { key: "Ctrl-Enter", run }])),
        lineNumbers(), history(), drawSelection(), highlightSpecialChars(), highlightActiveLine(), bracketMatching(),
        indentOnInput(), indentUnit.of("    "), EditorState.tabSize.of(4), python(), syntaxHighlighting(colours), markedLine,
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => update.docChanged && changes(update.state.doc.toString())),
      ],
    }),
  });
  return {
    get code() {
      return view.state.doc.toString();
    },
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    mark(line) {
      const effects = [markLine.of(line)];
      if (line >= 1 && line <= view.state.doc.lines) {
        effects.push(EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "nearest" }));
      }
      view.dispatch({ effects });
    },
    focus: () => view.focus(),
  };
}

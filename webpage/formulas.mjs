// A JSON list of TeX formulas on stdin becomes a JSON list of MathML on stdout, which browsers show without a script.
import katex from "katex";

let text = "";
for await (const part of process.stdin.setEncoding("utf8")) text += part;
const made = JSON.parse(text).map((formula) => katex.renderToString(formula, { output: "mathml", throwOnError: true }));
process.stdout.write(JSON.stringify(made));

// Python in a thread of its own. The page ends it from outside, so nothing here has to be interruptible.

const base = new URL("./", import.meta.url);
const send = (kind, data) => postMessage({ kind, data });

async function bytes(name) {
  const answer = await fetch(new URL(name, base));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.arrayBuffer();
}

async function start() {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", base).href);
  const [python, archive] = await Promise.all([
    loadPyodide({
      indexURL: new URL("pyodide/", base).href,
      packageBaseUrl: new URL("pyodide/", base).href,
      lockFileContents: { info: PYODIDE, packages: {} }, // no packages, so nothing is fetched from another host
      enableRunUntilComplete: false, // it needs stack switching, which not every browser has
      stdin: () => undefined, // input() raises EOFError
      env: { HOME: "/visitor" },
    }),
    bytes("python.zip"),
  ]);
  python.unpackArchive(archive, "zip", { extractDir: "/course" });
  python.registerJsModule("_channel", { send: (kind, json) => send(kind, JSON.parse(json)) });
  python.runPython(`
import json, os, sys
sys.path.insert(0, "/course")
os.makedirs("/visitor", exist_ok=True)
os.chdir("/visitor")
import _channel
from course_utils.live import charts, pieces

def _send(kind, data):
    _channel.send(kind, json.dumps(data))

charts.show = _send

def _run(name, code, guess):
    return pieces.run(name, code, guess, _send)
`);
  const run = python.globals.get("_run");
  addEventListener("message", ({ data: { name, code, guess } }) => {
    try {
      send("done", { ok: run(name, code, guess ?? undefined) });
    } catch (error) {
      send("crashed", { text: String(error?.message ?? error).slice(-2000) });
    }
  });
  send("ready", { version: python.runPython("sys.version.split()[0]") });
}

start().catch((error) => send("broken", { text: String(error?.message ?? error) }));

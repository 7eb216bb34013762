// Python in a worker. Whatever a visitor's code does, ending the worker ends it; a new worker takes over.

export const LIMIT = 60_000; // milliseconds of a run
const TICK = 200;

// A job: { name, code, guess, waits(why), begins(), tells(kind, data), goes(milliseconds), ends(how, milliseconds) }.
export class Python {
  constructor(shows) {
    this.shows = shows; // shows("python-…", values): the state of Python itself
    this.current = this.next = null;
    document.addEventListener("visibilitychange", () => this.tick()); // timers of a hidden page come late
    this.start();
  }

  start() {
    this.worker?.terminate();
    this.ready = this.broken = false;
    this.shows("python-loading");
    // A worker made from a blob inherits the page's Content-Security-Policy; one with an address of its own would not,
    // so the policy allows none, and a visitor's code cannot start one either.
    const address = JSON.stringify(new URL("worker.js", document.baseURI).href);
    const code = `import(${address}).catch((error) => postMessage({ kind: "broken", data: { text: String(error) } }));`;
    const blob = new Blob([code], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(blob), { type: "module" });
    worker.onmessage = ({ data }) => worker === this.worker && this.hears(data);
    worker.onerror = (event) => worker === this.worker && this.breaks(event.message ?? "");
    this.worker = worker;
  }

  hears({ kind, data }) {
    if (kind === "ready") {
      this.ready = true;
      this.shows("python-ready", data);
      this.beginNext();
    } else if (kind === "broken") this.breaks(data.text);
    else if (kind === "crashed") this.end("crashed", true);
    else if (kind === "done") this.end(data.ok ? "done" : "raised");
    else this.current?.tells(kind, data);
  }

  breaks(text) {
    if (this.ready && this.current) return this.end("crashed", true);
    this.broken = true;
    this.ready = false;
    this.shows("python-broken", { text });
  }

  run(job) {
    if (this.broken) this.start();
    if (this.next && this.next !== job) this.next.waits(null);
    this.next = job;
    if (this.ready && !this.current) this.beginNext();
    else if (this.current !== job) job.waits(this.current ? "waiting" : "starting");
  }

  beginNext() {
    if (!this.next) return;
    [this.current, this.next] = [this.next, null];
    this.begun = performance.now();
    this.current.begins();
    this.timer = setInterval(() => this.tick(), TICK);
    this.worker.postMessage({ name: this.current.name, code: this.current.code(), guess: this.current.guess() });
  }

  tick() {
    if (!this.current) return;
    const passed = performance.now() - this.begun;
    if (passed >= LIMIT) this.end("timeout", true);
    else this.current.goes(passed);
  }

  stop(job) {
    if (this.current === job) this.end("stopped", true);
    else if (this.next === job) {
      this.next = null;
      job.waits(null);
    }
  }

  end(how, restart = false) {
    const job = this.current;
    if (!job) return;
    clearInterval(this.timer);
    this.current = null;
    if (restart) this.start();
    job.ends(how, performance.now() - this.begun);
    if (this.ready) this.beginNext();
  }
}

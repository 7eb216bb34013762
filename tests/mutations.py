"""Do the tests notice a slip? Fifty small changes, planted one at a time, and the tests that fail with each.

    python tests/mutations.py              all of them; takes a few minutes
    python tests/mutations.py kv_cache     those of one module

Each change is of a kind that a hand makes: a comparison turned, a constant moved, an index off by one. The package is
copied and changed there; nothing in this folder is touched. What no test notices ends the script with an error.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "sampling": ["tests/test_sampling.py", "course_utils/sampling"],
    "kv_cache": ["tests/test_transformer.py", "course_utils/kv_cache.py"],
    "stopping": ["tests/test_stopping.py", "tests/test_generation.py", "course_utils/stopping.py"],
    "fast_decode": ["tests/test_fast_decode.py"],
    "metrics": ["tests/test_metrics.py", "course_utils/metrics.py"],
}
# file, what stands there once, what is planted in its place
CHANGES = {
    "sampling": [
        ("sampling/ranking.py", "if k >= len(logits):", "if k >= len(logits) - 1:"),
        ("sampling/ranking.py", "np.partition(logits, -k)[-k]", "np.partition(logits, -k)[1 - k]"),
        ("sampling/ranking.py", "weights < (1 - p) * weights.sum()", "weights < (2 - p) * weights.sum()"),
        ("sampling/ranking.py", "weights[light].sum()", "0.0"),
        ("sampling/ranking.py", "n = 1 + int(mass.searchsorted(", "n = int(mass.searchsorted("),
        ("sampling/ranking.py", "(p - EPSILON) * (mass[-1]", "(p + EPSILON) * (mass[-1]"),
        ("sampling/ranking.py", "logits / temperature >= math.log(min_p)", "logits >= math.log(min_p)"),
        ("sampling/ranking.py", "kept = np.delete(kept, tied[n - len(kept) :])", "kept = np.delete(kept, tied[: len(kept) - n])"),
        ("sampling/filters.py", "above, tied = logits > kth, logits == kth", "above, tied = logits >= kth, logits == kth"),
        ("sampling/filters.py", "keep_ranked = mass_before < p - EPSILON", "keep_ranked = mass_before < p + EPSILON"),
        ("sampling/filters.py", "keep_ranked[..., 0] = True", "keep_ranked[0] = True"),
        ("sampling/filters.py", "likeliest + math.log(min_p) - EPSILON", "likeliest + math.log(min_p) + EPSILON"),
        ("sampling/__init__.py", 'side="right"', 'side="left"'),
        ("sampling/__init__.py", "if not 0 <= u < 1:", "if not 0 <= u <= 1:"),
        ("sampling/__init__.py", "float(shifted[token_id]) - math.log", "float(shifted[token_id]) + math.log"),
    ],
    "kv_cache": [
        ("kv_cache.py", "return 2 * n_layer * n_kv_head", "return n_layer * n_kv_head"),
        ("kv_cache.py", ".tril(n_key - n_query)", ".tril(n_key - n_query - 1)"),
        ("kv_cache.py", "real.long().cumsum(-1) - 1)", "real.long().cumsum(-1))"),
        ("kv_cache.py", ".clamp_min(0)", ".clamp_min(1)"),
        ("kv_cache.py", "if self.n_tokens + token_ids.shape[1] > self.max_tokens:", "if self.n_tokens + token_ids.shape[1] >= self.max_tokens:"),
        ("kv_cache.py", "[:, self.n_tokens :]\n", "[:, : -self.n_tokens or None]\n"),
        ("kv_cache.py", "n_new == 1 or self.n_tokens == 0", "n_new == 1 or self.n_tokens == 1"),
        ("kv_cache.py", "if not 0 <= n_tokens <= self.n_tokens:", "if not 0 <= n_tokens:"),
        ("kv_cache.py", "zip(cache.token_ids[0].tolist(), token_ids[:-1], strict=False)", "zip(cache.token_ids[0].tolist(), token_ids, strict=False)"),
        ("kv_cache.py", "        if cached != wanted:\n            break\n", "        if cached != wanted:\n            continue\n"),
    ],
    "stopping": [
        ("stopping.py", '"TOOL_CALL": "tool_calls"}.get(self.name, "length")', '"TOOL_CALL": "tool_calls"}.get(self.name, "stop")'),
        ("stopping.py", "else position - len(self.matched)]", "else position - len(self.matched) + 1]"),
        ("stopping.py", "shown = len(text) - self._node.depth", "shown = len(text) - self._node.depth + 1"),
        ("stopping.py", "enumerate(piece, len(self.held) + 1)", "enumerate(piece, 1)"),
        ("stopping.py", "child.stop = child.stop or child.shorter.stop", "child.stop = child.shorter.stop or child.stop"),
        ("stopping.py", "            child.stop = child.stop or child.shorter.stop\n", ""),
        ("stopping.py", "            node = node.shorter\n        return self._root", "            node = None\n        return self._root"),
        ("stopping.py", "while link is not None and character not in link.children:", "while link is not None:"),
        ("stopping.py", "held, self.held, self._node = self.held, \"\", self._root", "held, self.held = self.held, \"\""),
    ],
    "fast_decode": [
        ("fast_decode.py", "* layer.input_layernorm.weight", "* layer.post_attention_layernorm.weight"),
        ("fast_decode.py", ".contiguous() for matrix in matrices", ".contiguous() * 1.001 for matrix in matrices"),
        ("fast_decode.py", "rotation = self._rotation[position]", "rotation = self._rotation[position - 1]"),
        ("fast_decode.py", "store.narrow(4, 0, position + 1)", "store.narrow(4, 0, max(position, 1))"),
        ("fast_decode.py", "store.select(4, position)", "store.select(4, position - 1)"),
        ("fast_decode.py", "if (position := cache.n_tokens) >= self.block_size:", "if (position := cache.n_tokens) > self.block_size:"),
        ("fast_decode.py", "(mean_square + self.config.norm_eps) ** -0.5", "mean_square ** -0.5"),
        ("fast_decode.py", "changed = [parameter._version for parameter in self._parameters] != self._versions", "changed = False"),
    ],
    "metrics": [
        ("metrics.py", "return None if distinct is None else 1 - distinct", "return None if distinct is None else distinct"),
        ("metrics.py", "for i in range(len(tokens) - n + 1)]", "for i in range(len(tokens) - n)]"),
        ("metrics.py", "for period in range(1, len(values) // 2 + 1):", "for period in range(1, len(values) // 2):"),
        ("metrics.py", "if run >= period:", "if run > period:"),
        ("metrics.py", "longest = max(longest, run + period)", "longest = max(longest, run)"),
        ("metrics.py", "count += ids.shape[1] - 1", "count += ids.shape[1]"),
        ("metrics.py", "(math.comb(n, k) - math.comb(n - c, k))", "(math.comb(n, k) - math.comb(n - c, k - 1))"),
        ("metrics.py", "if value not in (0, 1):", "if value not in (0, 1, None):"),
    ],
}  # fmt: skip


def plant(folder: Path, file: str, before: str, after: str) -> str:
    """Make the change; the text as it was. Raises ValueError where `before` does not stand exactly once."""
    path = folder / "course_utils" / file
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise ValueError(
            f"{file} holds {before!r} {text.count(before)} times; expected once. Bring the list up to date."
        )
    path.write_text(text.replace(before, after), encoding="utf-8", newline="\n")
    return text


def failing(folder: Path, tests: list[str]) -> list[str]:
    """The first tests that fail there: at most three."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--maxfail=3", "--tb=no", "--no-header"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    there = [test for test in tests if (folder / test).exists()]
    done = subprocess.run([*command, *there], cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    named = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return named or (["an error before the first test"] if done.returncode else [])


def main() -> None:
    """Plant, run, put back, and say what was noticed."""
    chosen = {name: CHANGES[name] for name in sys.argv[1:] or CHANGES}
    unnoticed, n_changes = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("course_utils", "tests", "data", "notebooks", "conftest.py", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)
        for module, changes in chosen.items():
            if sound := failing(folder, TESTS[module]):
                raise SystemExit(f"Without any change these fail already: {sound}")
            for file, before, after in changes:
                text = plant(folder, file, before, after)
                noticed = failing(folder, TESTS[module])
                (folder / "course_utils" / file).write_text(text, encoding="utf-8", newline="\n")
                n_changes += 1
                by = ", ".join(name.split("::")[-1] for name in noticed) or "NOTHING"
                print(
                    f"{n_changes:3}  {file}: {before.strip()!r}\n     -> {after.strip()!r}\n     noticed by {by}",
                    flush=True,
                )
                if not noticed:
                    unnoticed.append((file, before))
    print(f"{n_changes - len(unnoticed)} of {n_changes} changes were noticed.")
    if unnoticed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""Sweeps: every prompt under every setting with every seed, as one table, kept as the results come.

A *cell* is one prompt, one setting, one seed. Cells are computed in batches of `batch_size`, which depend on the
arguments alone: so the table is the same on one core, on all, on a cluster, and after an interruption.

The draws of a cell come from its seed and, as `sample`, the number of its prompt. So prompts do not share their luck,
and a prompt has the same random numbers under every setting: differences between settings can be compared in pairs.
"""

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import joblib
import pandas as pd
import torch
from tqdm.auto import tqdm

from course_utils.arguments import check_integer
from course_utils.generation import Generation, generate, generate_batch
from course_utils.metrics import entries
from course_utils.model_checks import check_model_and_vocab
from course_utils.protocols import LanguageModel, NamedVocabulary
from course_utils.randomness import check_uint64
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.sweep.store import Store, digests

SETTINGS = ("temperature", "top_k", "top_p", "min_p", "greedy")
RESULTS = ("text", "finish_reason", "n_tokens", "error")


@dataclass(frozen=True)
class Cell:
    """One text of a sweep: its prompt and its settings."""

    problem: int  # the number of the prompt
    prompt: str
    setting: str
    params: SamplingParams  # with the seed

    @property
    def key(self) -> tuple[int, str, int | None]:
        return self.problem, self.setting, self.params.seed


def sweep(
    model: LanguageModel,
    vocab: NamedVocabulary,
    prompts: Sequence[str],
    settings: Mapping[str, SamplingParams],
    seeds: Sequence[int],
    metrics: Mapping[str, Callable[[Generation], object]] | None = None,
    stopping: StopCriteria = StopCriteria(),
    keep: str | Path | None = None,
    n_jobs: int | None = None,
    batch_size: int = 32,
    progress: bool = True,
) -> pd.DataFrame:
    """All prompts × settings × seeds. An error in a cell is told in its row, and the others go on.

    prompts, seeds: lists, since a row is known by their order. seeds: 0 <= seed < 2**64, each once.
    settings: a name → SamplingParams without a seed. A name is a str or a number.
    metrics: a name → a function of a Generation that returns a number, a bool, a str or None.
    keep: a file that every finished batch is added to at once; ~ is the home folder. If it exists, what it holds is not
        computed again; a file that was made with other arguments, or that another sweep is adding to, is refused. A
        metric is known by its name only: rename one that changes. What failed is tried again.
    n_jobs: processes; 1, or -1 for one for each core. None: 1, or what a surrounding `joblib.parallel_config` says.
        There `parallel_config(backend="dask")` sends the batches to the current Dask client's cluster.
    Returns a row for each cell, ordered by setting, seed, prompt. Columns: problem (number of the prompt), prompt,
        setting, its values, seed, sample, text, finish_reason, n_tokens, one for each metric, error (None if none).
    Raises ValueError or TypeError for arguments that make no sense, before anything is computed.
    """
    metrics = dict(metrics or {})
    prompts, seeds, settings = entries("prompts", prompts), entries("seeds", seeds), _named(settings)
    _check(prompts, settings, seeds, metrics, batch_size, n_jobs)
    check_model_and_vocab(model, vocab)
    cells = [
        Cell(number, prompt, name, replace(params, seed=seed))
        for name, params in settings.items()
        for seed in seeds
        for number, prompt in enumerate(prompts)
    ]
    arguments = digests(model, vocab, prompts, settings, seeds, list(metrics), stopping, batch_size)
    batches = [cells[start : start + batch_size] for start in range(0, len(cells), batch_size)]
    with Store(keep, arguments, list(metrics)) as store:
        open_batches = [batch for batch in batches if any(cell.key not in store.rows for cell in batch)]
        tasks = [joblib.delayed(_run_batch)(model, vocab, batch, metrics, stopping) for batch in open_batches]
        with tqdm(total=len(cells), initial=len(store.rows), unit="text", disable=not progress) as bar:
            for rows in _results(tasks, n_jobs):
                bar.update(store.add(rows))
    if failed := sum(store.rows[cell.key]["error"] is not None for cell in cells):
        warnings.warn(f"{failed} of {len(cells)} cells failed; the column `error` says why.", stacklevel=2)
    return _table(cells, store.rows, list(metrics))


def _results(tasks: list, n_jobs: int | None) -> Iterator[list[dict]]:
    """The batches' rows, as soon as each is there; of a backend that cannot do so, in waves."""
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        parallel = joblib.Parallel(n_jobs=n_jobs)
        wave = 4 * joblib.effective_n_jobs(n_jobs)
        for start in range(0, len(tasks), wave):
            yield from parallel(tasks[start : start + wave])
    else:
        yield from parallel(tasks)


def _run_batch(
    model: LanguageModel,
    vocab: NamedVocabulary,
    cells: Sequence[Cell],
    metrics: Mapping[str, Callable],
    stopping: StopCriteria,
) -> list[dict]:
    """The rows of some cells. In a worker, too: it takes its arguments and returns plain values."""
    with _one_thread():
        found: Sequence[Generation | Exception]
        try:
            prompts, params = [cell.prompt for cell in cells], [cell.params for cell in cells]
            found = generate_batch(model, vocab, prompts, params, stopping, sample=[cell.problem for cell in cells])
        except Exception:  # one cell is enough to stop a batch: find out which, and let the others be
            found = [_alone(model, vocab, cell, stopping) for cell in cells]
        return [_row(cell, result, metrics) for cell, result in zip(cells, found, strict=True)]


def _alone(model: LanguageModel, vocab: NamedVocabulary, cell: Cell, stopping: StopCriteria) -> Generation | Exception:
    try:
        return generate(model, vocab, cell.prompt, cell.params, stopping, sample=cell.problem)
    except Exception as error:
        return error


def _row(cell: Cell, result: Generation | Exception, metrics: Mapping[str, Callable]) -> dict:
    key = {"problem": cell.problem, "setting": cell.setting, "seed": cell.params.seed}
    if isinstance(result, Exception):
        return {**key, **dict.fromkeys((*RESULTS, *metrics)), "error": _said(result)}
    row = {**key, "text": result.text, "finish_reason": result.finish_reason.name, "n_tokens": len(result.token_ids)}
    errors = []
    for name, function in metrics.items():
        try:
            row[name] = _plain(function(result))
        except Exception as error:
            row[name] = None
            errors.append(f"metric {name}: {_said(error)}")
    return {**row, "error": "; ".join(errors) or None}


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _plain(value: object) -> bool | int | float | str | None:
    """A metric's value as a file can hold it: NumPy's and torch's single numbers become Python's."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return json.loads(json.dumps(value))  # an error for an integer of more digits than Python writes out
    raise TypeError(f"it gave a {type(value).__name__}; expected a number, a bool, a str or None.")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Threads inside each of many processes get into each other's way, and a sum's order depends on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _table(cells: Sequence[Cell], rows: Mapping[tuple, dict], metric_names: list[str]) -> pd.DataFrame:
    records = [
        {
            **rows[cell.key],
            "prompt": cell.prompt,
            "sample": cell.problem,
            **{name: getattr(cell.params, name) for name in SETTINGS},
        }
        for cell in cells
    ]
    columns = ["problem", "prompt", "setting", *SETTINGS, "seed", "sample", *RESULTS[:-1], *metric_names, "error"]
    table = pd.DataFrame.from_records(records, columns=columns)
    return table.astype(
        dict.fromkeys(SETTINGS[:-1], "float64")
    )  # NaN where a filter is off, whatever the other rows have


def _named(settings: Mapping[str, SamplingParams]) -> dict:
    """The settings, their names as a file can hold them: a text or a number of Python's own."""
    if not isinstance(settings, Mapping):
        raise TypeError(f'settings is {settings!r}; expected a name for each SamplingParams, as {{"T = 1": …}}.')
    names = entries("settings", list(settings))
    for name in names:
        if not isinstance(name, (str, int)) and not (isinstance(name, float) and math.isfinite(name)):
            raise TypeError(f"settings has the name {name!r}; expected a str, such as 'T = 1', or a number.")
    return dict(zip(names, settings.values(), strict=True))


def _check(
    prompts: Sequence[str],
    settings: Mapping[str, SamplingParams],
    seeds: Sequence[int],
    metrics: Mapping[str, Callable],
    batch_size: int,
    n_jobs: int | None,
) -> None:
    if not all(isinstance(prompt, str) for prompt in prompts):
        raise TypeError("prompts holds something else than a str; expected a list of str.")
    if not all(isinstance(p, SamplingParams) for p in settings.values()):
        raise TypeError(f'settings is {settings!r}; expected a name for each SamplingParams, as {{"T = 1": …}}.')
    if not len(prompts) or not settings or not len(seeds):
        raise ValueError("There is nothing to do; expected at least one prompt, one setting and one seed.")
    if seeded := [name for name, params in settings.items() if params.seed is not None]:
        raise ValueError(f"The setting {seeded[0]!r} has a seed; expected none. Each setting gets all of `seeds`.")
    if len(set(seeds)) != len(seeds) or None in seeds:
        raise ValueError(f"seeds is {seeds!r}; expected each seed once, and none that is None.")
    for seed in seeds:
        check_uint64("seed", seed)
    if nameless := [name for name in metrics if not isinstance(name, str)]:
        raise TypeError(f"A metric is called {nameless[0]!r}; expected a str.")
    if taken := set(metrics) & {"problem", "prompt", "setting", "seed", "sample", *SETTINGS, *RESULTS}:
        raise ValueError(f"A metric is called {min(taken)!r}, which is a column already. Choose another name.")
    if n_jobs is not None and not check_integer("n_jobs", n_jobs, below=2**15, at_least=-(2**15)):
        raise ValueError("n_jobs is 0; expected a number of processes, -1 for one for each core, or None.")
    if check_integer("batch_size", batch_size) < 1:
        raise ValueError(f"batch_size is {batch_size}; expected at least 1.")
    greedy = [name for name, params in settings.items() if params.greedy]
    if greedy and len(seeds) > 1:
        warnings.warn(
            f"{greedy[0]!r} is greedy: its {len(seeds)} seeds give {len(seeds)} copies of one text, not more evidence. "
            f"Sweep it on its own with one seed.",
            stacklevel=3,
        )

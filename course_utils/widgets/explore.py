"""The two panels of the course that show how a distribution becomes a token, and tokens a text."""

from collections.abc import Iterator, Sequence
from html import escape

import torch
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from course_utils import plots
from course_utils.eval_mode import eval_mode
from course_utils.fast_decode import plan, refusal
from course_utils.generation import generate, stream
from course_utils.protocols import LanguageModel, NamedVocabulary
from course_utils.randomness import uniform
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.transformer import Transformer
from course_utils.widgets import pictures, views
from course_utils.widgets.controls import MAX_SEED, Control
from course_utils.widgets.panel import Panel, html

_NAMES = {"temperature": "temperature", "top_k": "top-k", "top_p": "top-p", "min_p": "min-p"}


def explore_sampling(
    model: LanguageModel,
    vocab: NamedVocabulary,
    prompt: str = "",
    sampling: SamplingParams = SamplingParams(seed=0),
    max_new_tokens: int = 60,
) -> Panel:
    """Sliders for every setting; the distribution of a step and the continuation of the prompt follow them.

    model, vocab: as for `generation.generate`. prompt: may be empty.
    sampling: the settings to begin with; a seed of None begins at 0. max_new_tokens: how long the text may get.
    Each step has its own u, which depends on the seed and the step alone: while a setting moves, u stays.
    Raises ValueError for a prompt or settings with which no text can be made.
    """
    explorer = _Sampling(model, vocab, [views.visible(vocab.label(i)) for i in range(len(vocab))], max_new_tokens)
    controls = [
        Control("prompt", "text", "Prompt", prompt),
        *_setting_controls(sampling, len(vocab)),
        Control("seed", "number", "Seed", min(sampling.seed or 0, MAX_SEED), 0, MAX_SEED),
        Control("step", "slider", "Step of the text", 0, 0, max(max_new_tokens - 1, 0)),
        _SORT,
    ]
    return Panel("From scores to a text", controls, explorer.fast, explorer.slow, explorer.still, explorer.caption)


def explore_logits(
    logits: ArrayLike | torch.Tensor, labels: Sequence[str] | None = None, sampling: SamplingParams = SamplingParams()
) -> Panel:
    """The same for one row of logits that is written by hand, such as [2, 1]; u has a slider.

    logits: (V,), in nats. labels: one for each; None shows the ids. sampling: the settings to begin with.
    Raises ValueError for logits of another shape, or a number of labels that does not fit.
    """
    row = torch.as_tensor(logits).detach().double()
    if row.ndim != 1 or not len(row):
        raise ValueError(f"logits has shape {tuple(row.shape)}; expected one row, (V,).")
    labels = [views.visible(label) for label in (range(len(row)) if labels is None else labels)]
    if len(labels) != len(row):
        raise ValueError(f"{len(labels)} labels for {len(row)} logits; expected one for each.")
    explorer = _Row(row, labels)
    controls = [*_setting_controls(sampling, len(row)), Control("u", "slider", "u", 0.5, 0, 0.99, 0.01), _SORT]
    return Panel("From logits to a token", controls, explorer.fast, None, explorer.still, explorer.caption)


_SORTS = (("likeliest", "likeliest first"), ("id", "by id"))
_SORT = Control("sort", "choice", "Candidates", "likeliest", options=_SORTS)


def _setting_controls(params: SamplingParams, vocab_size: int) -> list[Control]:
    orders = {",".join(SamplingParams.like(name).order): name for name in ("transformers", "vllm", "llama.cpp")}
    orders = {",".join(params.order): "yours"} | orders
    options = tuple((order, f"{who}: {_steps(order)}") for order, who in orders.items())
    k = min(params.top_k or 0, vocab_size)
    top_p = 1.0 if params.top_p is None else params.top_p
    t = 0.0 if params.greedy else params.temperature
    return [
        Control("temperature", "slider", "Temperature", t, 0, max(3.0, t), 0.01, {"0": "0: greedy"}),
        Control("top_k", "slider", "Top-k", k, 0, vocab_size, 1, {"0": "off", str(vocab_size): f"{vocab_size}: all"}),
        Control("top_p", "slider", "Top-p", top_p, 0, 1, 0.01, {"1": "off"}),
        Control("min_p", "slider", "Min-p", params.min_p or 0.0, 0, 1, 0.01, {"0": "off"}),
        Control("order", "choice", "Order", ",".join(params.order), options=options),
    ]


def params_of(settings: dict) -> SamplingParams:
    """The decoder's settings, from those of the controls."""
    return SamplingParams(
        temperature=settings["temperature"],
        top_k=settings["top_k"] or None,
        top_p=None if settings["top_p"] == 1 else settings["top_p"],
        min_p=settings["min_p"] or None,
        seed=settings.get("seed"),
        order=tuple(settings["order"].split(",")),
    )


class _Row:
    """The views of one row of logits."""

    def __init__(self, logits: torch.Tensor, labels: list[str]):
        self.logits, self.labels = logits, labels

    def look(self, settings: dict) -> views.Look:
        return views.look_at(self.logits, params_of(settings), settings["u"])

    def fast(self, settings: dict) -> dict[str, str]:
        return _slots(self.look(settings), self.labels, settings)

    def still(self, settings: dict) -> Axes:
        return _still(self.look(settings), self.labels, settings)

    def caption(self, settings: dict) -> str:
        return f"Panel, {_say(settings)}. {views.say_look(self.look(settings), self.labels)}"


def _for_one_text(model: LanguageModel) -> LanguageModel:
    """A Transformer planned as it is now, which is several times as fast; any other model as it is."""
    return plan(model) if isinstance(model, Transformer) and refusal(model) is None else model


class _Sampling:
    """The views of one step and of the continuation. The last finished text is kept: other steps need no other text."""

    def __init__(self, model: LanguageModel, vocab: NamedVocabulary, labels: list[str], max_new_tokens: int):
        self.model, self.vocab, self.labels, self.max_new_tokens = model, vocab, labels, max_new_tokens
        self._last: tuple[tuple, views.Continuation] | None = None

    def look(self, settings: dict) -> tuple[views.Look, int]:
        """The distribution of a step, and the step: the slider's, or the last one of a text that has fewer."""
        prompt, params = settings["prompt"], params_of(settings)
        sampled, step = self._begin(prompt, params, settings["step"])
        context = torch.tensor([[self.vocab.bos_id, *self.vocab.encode(prompt), *sampled[:step]]])
        with eval_mode(self.model):
            logits = self.model(context, None)[0, -1]
        return views.look_at(logits, params, uniform(settings["seed"], step)), step

    def _begin(self, prompt: str, params: SamplingParams, step: int) -> tuple[Sequence[int], int]:
        """At least the tokens before the step, and the step that can be shown."""
        if self._last and self._last[0] == (prompt, params):
            sampled = self._last[1].generation.token_ids
            return sampled, max(min(step, len(sampled) - 1), 0)
        if step == 0:
            return (), 0
        begun = generate(_for_one_text(self.model), self.vocab, prompt, params, StopCriteria(step))
        ended = begun.finish_reason is not FinishReason.LENGTH
        return begun.token_ids, max(len(begun.token_ids) - 1, 0) if ended else step

    def fast(self, settings: dict) -> dict[str, str]:
        look, step = self.look(settings)
        slots = _slots(look, self.labels, settings)
        ended = f" (the text has no step {settings['step']})" if step != settings["step"] else ""
        return slots | {"summary": html("p", f"Step {step}{ended}: {views.say_look(look, self.labels)}")}

    def slow(self, settings: dict) -> Iterator[dict[str, str]]:
        prompt, params = settings["prompt"], params_of(settings)
        if self._last is None or self._last[0] != (prompt, params):
            text = ""
            model = _for_one_text(self.model)
            for chunk in stream(model, self.vocab, prompt, params, StopCriteria(self.max_new_tokens)):
                text += chunk.text
                if chunk.generation is None:
                    yield {"text": _text(prompt, [text], None)}
                else:
                    self._last = ((prompt, params), views.follow(self.model, self.vocab, chunk.generation))
        assert self._last is not None  # the last chunk of a stream carries the finished text
        continuation = self._last[1]
        _, step = self._begin(prompt, params, settings["step"])
        yield {
            "text": _text(prompt, [self.vocab.tokens[i] for i in continuation.generation.token_ids], step),
            "facts": html("p", views.say_continuation(continuation)),
            "steps": pictures.figure("Step by step", "", pictures.steps(continuation, len(self.vocab), step)),
        }

    def still(self, settings: dict) -> Axes:
        return _still(self.look(settings)[0], self.labels, settings)

    def caption(self, settings: dict) -> str:
        look, step = self.look(settings)
        said = views.say_look(look, self.labels)
        return f"Panel, prompt {settings['prompt']!r}, {_say(settings)}, seed {settings['seed']}, step {step}. {said}"


def _slots(look: views.Look, labels: list[str], settings: dict) -> dict[str, str]:
    """The views that follow the hand."""
    by_id = settings["sort"] == "id"
    picked = "▲ greedy takes it" if look.params.greedy else "▲ picked by u"
    crossing = "✓ crosses p" if look.crossing is not None else views.no_crossing(look)
    return {
        "summary": html("p", views.say_look(look, labels)),
        "bars": pictures.figure("Candidates", "outline: before · filled: after · × dropped · ▲ picked",
                                pictures.bars(look, labels, by_id)),
        "mass": pictures.figure("Cumulative mass by rank", crossing, pictures.mass(look, labels)),
        "cdf": pictures.figure("CDF by id", picked, pictures.cdf(look, labels)),
        "numbers": pictures.table(look, labels, by_id),
    }  # fmt: skip


def _text(prompt: str, tokens: list[str], step: int | None) -> str:
    """The prompt and its continuation, line ends visible, the token of the step marked."""
    shown = [escape(token).replace("\n", "⏎\n").replace("\t", "⇥\t") for token in (prompt, *tokens)]
    if step is not None and step < len(tokens):
        shown[step + 1] = f"<mark>{shown[step + 1]}</mark>"
    return f'<p><span class="cp-prompt">{shown[0]}</span>{"".join(shown[1:])}</p>'


def _still(look: views.Look, labels: list[str], settings: dict) -> Axes:
    ids = look.candidates(pictures.N_SHOWN, settings["sort"] == "id")
    series = {"before the filters": look.before[ids], "after": look.after[ids]}
    title = "A panel as it opens: run the cell in JupyterLab, and sliders move it"
    return plots.probability_bars([labels[i] for i in ids], series, title)


def _steps(order: str) -> str:
    return ", ".join(_NAMES[step] for step in order.split(","))


def _say(settings: dict) -> str:
    values = ", ".join(f"{name} {settings[key]:g}" for key, name in _NAMES.items())
    u = f", u {settings['u']:g}" if "u" in settings else ""
    return f"{values}, order {_steps(settings['order'])}{u}"

"""The two panels of the course that show how a distribution becomes a token, and tokens a text.

They grow with the course. In notebook 01 nothing is set, so there are probabilities and a draw. Notebook 02 adds the
temperature, with the probabilities at T = 1 as an outline that stays. Notebook 03 adds the filters and their order.
"""

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
from course_utils.sampling import STEPS, SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.transformer import Transformer
from course_utils.widgets import pictures, views
from course_utils.widgets.controls import MAX_SEED, Control
from course_utils.widgets.panel import Panel, html
from course_utils.widgets.settings import Chosen, say, setting_controls, sort_control
from course_utils.widgets.views import Stage


def explore_sampling(
    model: LanguageModel,
    vocab: NamedVocabulary,
    prompt: str = "",
    sampling: SamplingParams = SamplingParams(seed=0),
    max_new_tokens: int = 60,
    settings: Sequence[str] = STEPS,
) -> Panel:
    """Sliders for the settings; the distribution of a step and the continuation of the prompt follow them.

    model, vocab: as for `generation.generate`. prompt: may be empty.
    sampling: the settings to begin with; a seed of None begins at 0. max_new_tokens: how long the text may get.
    settings: which of "temperature", "top_k", "top_p" and "min_p" can be moved, the order as well if a filter can;
        the others stay as they are in `sampling`. Prompt, seed and step can always be changed.
    Each step has its own u, which depends on the seed and the step alone: while a setting moves, u stays.
    Raises ValueError for a prompt or settings with which no text can be made, or that do not exist.
    """
    labels = [views.visible(vocab.label(i)) for i in range(len(vocab))]
    explorer = _Sampling(model, vocab, labels, max_new_tokens, Chosen(sampling, settings))
    controls = [
        Control("prompt", "text", "Prompt", prompt),
        *setting_controls(explorer.chosen, len(vocab)),
        Control("seed", "number", "Seed", min(sampling.seed or 0, MAX_SEED), 0, MAX_SEED),
        Control("step", "slider", "Step of the text", 0, 0, max(max_new_tokens - 1, 0)),
        *sort_control(explorer.chosen),
    ]
    return Panel("From scores to a text", controls, explorer.fast, explorer.slow, explorer.still, explorer.caption)


def explore_logits(
    logits: ArrayLike | torch.Tensor,
    labels: Sequence[str] | None = None,
    sampling: SamplingParams = SamplingParams(),
    settings: Sequence[str] = STEPS,
) -> Panel:
    """The same for one row of logits that is written by hand, such as [2, 1]; u has a slider.

    logits: (V,), in nats. labels: one for each; None shows the ids. sampling, settings: as in `explore_sampling`.
    Raises ValueError for logits of another shape, a number of labels that does not fit, or an unknown setting.
    """
    row = torch.as_tensor(logits).detach().double()
    if row.ndim != 1 or not len(row):
        raise ValueError(f"logits has shape {tuple(row.shape)}; expected one row, (V,).")
    labels = [views.visible(label) for label in (range(len(row)) if labels is None else labels)]
    if len(labels) != len(row):
        raise ValueError(f"{len(labels)} labels for {len(row)} logits; expected one for each.")
    explorer = _Row(row, labels, Chosen(sampling, settings))
    controls = [
        *setting_controls(explorer.chosen, len(row)),
        Control("u", "slider", "u", 0.5, 0, 0.99, 0.01),
        *sort_control(explorer.chosen),
    ]
    return Panel("From logits to a token", controls, explorer.fast, None, explorer.still, explorer.caption)


class _Row:
    """The views of one row of logits."""

    def __init__(self, logits: torch.Tensor, labels: list[str], chosen: Chosen):
        self.logits, self.labels, self.chosen = logits, labels, chosen

    def look(self, settings: dict) -> views.Look:
        return views.look_at(self.logits, self.chosen.read(settings), settings["u"])

    def fast(self, settings: dict) -> dict[str, str]:
        return _slots(self.look(settings), self.labels, settings, self.chosen.stage)

    def still(self, settings: dict) -> Axes:
        return _still(self.look(settings), self.labels, settings, self.chosen.stage)

    def caption(self, settings: dict) -> str:
        said = views.say_look(self.look(settings), self.labels, self.chosen.stage)
        return f"Panel, {say(settings)}. {said}"


def _for_one_text(model: LanguageModel) -> LanguageModel:
    """A Transformer planned as it is now, which is several times as fast; any other model as it is."""
    return plan(model) if isinstance(model, Transformer) and refusal(model) is None else model


class _Sampling:
    """The views of one step and of the continuation. The last finished text is kept: other steps need no other text."""

    def __init__(
        self, model: LanguageModel, vocab: NamedVocabulary, labels: list[str], max_new_tokens: int, chosen: Chosen
    ):
        self.model, self.vocab, self.labels, self.max_new_tokens = model, vocab, labels, max_new_tokens
        self.chosen = chosen
        self._last: tuple[tuple, views.Continuation] | None = None

    def look(self, settings: dict) -> tuple[views.Look, int]:
        """The distribution of a step, and the step: the slider's, or the last one of a text that has fewer."""
        prompt, params = settings["prompt"], self.chosen.read(settings)
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
        slots = _slots(look, self.labels, settings, self.chosen.stage)
        ended = f" (the text has no step {settings['step']})" if step != settings["step"] else ""
        said = views.say_look(look, self.labels, self.chosen.stage)
        return slots | {"summary": html("p", f"Step {step}{ended}: {said}")}

    def slow(self, settings: dict) -> Iterator[dict[str, str]]:
        prompt, params = settings["prompt"], self.chosen.read(settings)
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
        stage = self.chosen.stage
        slots = {
            "text": _text(prompt, [self.vocab.tokens[i] for i in continuation.generation.token_ids], step),
            "facts": html("p", views.say_continuation(continuation, stage)),
        }
        if stage >= Stage.TEMPERATURE:
            picture = pictures.steps(continuation, len(self.vocab), step, stage)
            slots["steps"] = pictures.figure("Step by step", "", picture)
        yield slots

    def still(self, settings: dict) -> Axes:
        return _still(self.look(settings)[0], self.labels, settings, self.chosen.stage)

    def caption(self, settings: dict) -> str:
        look, step = self.look(settings)
        said = views.say_look(look, self.labels, self.chosen.stage)
        return f"Panel, prompt {settings['prompt']!r}, {say(settings)}, step {step}. {said}"


def _slots(look: views.Look, labels: list[str], settings: dict, stage: Stage) -> dict[str, str]:
    """The views that follow the hand."""
    by_id = settings.get("sort") == "id"
    picked = "▲ greedy takes it" if look.params.greedy else "▲ picked by u"
    slots = {
        "summary": html("p", views.say_look(look, labels, stage)),
        "bars": pictures.figure("Candidates", _LEGENDS[stage], pictures.bars(look, labels, by_id, stage)),
    }
    if stage == Stage.FILTERS:
        crossing = views.no_crossing(look) if look.crossing is None else f"✓ crosses p · {views.place(look)}"
        slots["mass"] = pictures.figure("Cumulative mass by rank", crossing, pictures.mass(look, labels))
    slots["cdf"] = pictures.figure("CDF by id", picked, pictures.cdf(look, labels))
    return slots | {"numbers": pictures.table(look, labels, by_id, stage)}


_LEGENDS = {
    Stage.CHOICE: "▲ picked",
    Stage.TEMPERATURE: "outline: T = 1 · filled: at this T · ▲ picked",
    Stage.FILTERS: "outline: T = 1 · filled: after all settings · × dropped · ▲ picked",
}


def _text(prompt: str, tokens: list[str], step: int | None) -> str:
    """The prompt and its continuation, line ends visible, the token of the step marked."""
    shown = [escape(token).replace("\n", "⏎\n").replace("\t", "⇥\t") for token in (prompt, *tokens)]
    if step is not None and step < len(tokens):
        shown[step + 1] = f"<mark>{shown[step + 1]}</mark>"
    return f'<p><span class="cp-prompt">{shown[0]}</span>{"".join(shown[1:])}</p>'


def _still(look: views.Look, labels: list[str], settings: dict, stage: Stage) -> Axes:
    ids = look.candidates(pictures.N_SHOWN, settings.get("sort") == "id")
    series = {"at T = 1": look.before[ids], views.now(look, stage): look.after[ids]}
    if stage == Stage.CHOICE:
        series = {"probability": look.after[ids]}
    return plots.probability_bars([labels[i] for i in ids], series, "The panel's picture, as it opens")

"""The planned step's ideas one by one: what each adds, and that the logits stay.

    python -m benchmarks.planned_step           one thread, about half a minute

A decode step of the shipped model is written here several times, each variant with one idea more than the one before.
`course_utils.fast_decode` has all of them and no such switches. Variants take turns; the table gives medians of the
ratios of neighbouring runs, and the largest difference of logits on a given tale. A timing depends on the machine.
"""

import argparse
import os
import platform
import statistics
import time

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits, in_chunks
from course_utils.fast_decode import plan
from course_utils.text import load_documents
from course_utils.transformer import rotations

MODEL, VOCAB = load_model("tiny_llama")
CONFIG = MODEL.config
H, K, D, C = CONFIG.n_head, CONFIG.n_kv_head, CONFIG.head_dim, CONFIG.n_embd
LEVELS = (
    "the same operations without modules",
    "+ folded gains: a norm is one factor of the multiplication",
    "+ joined matrices, one complex rotation for all heads",
    "+ grouped heads as rows of one attention call",
    "+ buffers and views made once",
)


class Variant:
    """A step with the first `level` ideas. It is fed one token at a time and keeps its own keys and values."""

    def __init__(self, level: int):
        self.level = level
        self.pairs = torch.arange(D).view(2, D // 2).t().flatten() if level >= 2 else torch.arange(D)
        self.layers = []
        for layer in MODEL.model.layers:
            at, mlp = layer.self_attn, layer.mlp
            q, k, v = (
                one.weight.view(-1, D, C)[:, self.pairs].reshape(-1, C) for one in (at.q_proj, at.k_proj, at.v_proj)
            )
            gains = [layer.input_layernorm.weight, layer.post_attention_layernorm.weight]
            first, second = [q, k, v], [mlp.gate_proj.weight, mlp.up_proj.weight]
            if level >= 1:
                first, second = (
                    [one * gain for one in some] for some, gain in zip((first, second), gains, strict=True)
                )
            if level >= 2:
                first, second = [torch.cat(first)], [torch.cat(second)]
            out = at.o_proj.weight.view(C, H, D)[:, :, self.pairs].reshape(C, -1) if level >= 2 else at.o_proj.weight
            matrices = [
                [one.t().contiguous() for one in some] for some in (first, [out], second, [mlp.down_proj.weight])
            ]
            self.layers.append((gains, *matrices))
        head = MODEL.lm_head.weight * (MODEL.model.norm.weight if level >= 1 else 1)
        self.head = [head.t().contiguous()]
        table = rotations(D, CONFIG.block_size, CONFIG.rope_theta)
        self.complex = torch.view_as_complex(table).unsqueeze(1)  # (positions, 1, D / 2)
        self.cos, self.sin = MODEL.rotation  # (positions, D)
        self.store = torch.zeros(CONFIG.n_layer, 2, 1, K, CONFIG.block_size, D)
        self.x = torch.zeros(1, C)
        self.rooms = [torch.zeros(1, (H + 2 * K) * D), torch.zeros(1, 2 * CONFIG.n_inner)]
        heads = self.rooms[0].view(-1, D)
        self.turning = torch.view_as_complex(heads[: H + K].view(-1, D // 2, 2))
        self.q, self.kv = heads[:H].view(1, K, H // K, D), heads[H:].view(2, 1, K, D)
        self.gate_and_up = self.rooms[1].chunk(2, dim=1)

    def normed(self, x: Tensor, gain: Tensor, matrices: list[Tensor], room: Tensor | None = None) -> list[Tensor]:
        """norm(x) times each of the matrices."""
        if self.level == 0:
            x = F.rms_norm(x, (C,), gain, CONFIG.norm_eps)
            return [x @ one for one in matrices]
        scale = (torch.dot(x[0], x[0]).item() / C + CONFIG.norm_eps) ** -0.5
        if self.level == 4 and room is not None:
            return [torch.addmm(room, x, matrices[0], beta=0, alpha=scale, out=room)]
        return [torch.addmm(x.new_zeros(1, one.shape[1]), x, one, beta=0, alpha=scale) for one in matrices]

    def turned(self, heads: Tensor, position: int) -> Tensor:
        """Queries or keys, (heads, D), at their position."""
        if self.level < 2:
            return heads * self.cos[position] + heads.roll(D // 2, -1) * self.sin[position]
        return torch.view_as_real(
            torch.view_as_complex(heads.view(-1, D // 2, 2)).mul_(self.complex[position])
        ).flatten(1)

    def __call__(self, token_id: int, position: int) -> Tensor:
        x = MODEL.model.embed_tokens.weight[token_id][None]
        x = self.x.copy_(x) if self.level == 4 else x.clone()
        if self.level == 4:
            return self.planned(x, position)
        for layer, (gains, first, (out,), second, (down,)) in enumerate(self.layers):
            parts = self.normed(x, gains[0], first)
            if self.level < 2:
                q, k = (self.turned(part.view(-1, D), position) for part in parts[:2])
                v = parts[2].view(K, D)
            else:
                heads = parts[0].view(-1, D)
                turned = self.turned(heads[: H + K], position)
                q, k, v = turned[:H], turned[H:], heads[H + K :]
            keys, values = self.store[layer, :, :, :, : position + 1].unbind(0)
            keys[0, :, position], values[0, :, position] = k, v
            if self.level < 3:
                keys, values = (one.repeat_interleave(H // K, dim=1) for one in (keys, values))
                q = q.view(1, H, 1, D)
            else:
                q = q.view(1, K, H // K, D)
            x = x.addmm_(F.scaled_dot_product_attention(q, keys, values).reshape(1, -1), out)
            parts = self.normed(x, gains[1], second)
            gate, up = parts if len(parts) == 2 else parts[0].chunk(2, dim=1)
            x = x.addmm_(F.silu(gate) * up, down)
        return self.normed(x, MODEL.model.norm.weight, self.head)[0]

    def planned(self, x: Tensor, position: int) -> Tensor:
        """The same, written into buffers that exist, through views that exist."""
        seen, places = self.store.narrow(4, 0, position + 1).unbind(0), self.store.select(4, position).unbind(0)
        gate, up = self.gate_and_up
        for (gains, first, (out,), second, (down,)), stored, place in zip(self.layers, seen, places, strict=True):
            self.normed(x, gains[0], first, self.rooms[0])
            self.turning.mul_(self.complex[position])
            place.copy_(self.kv)
            keys, values = stored.unbind(0)
            x.addmm_(F.scaled_dot_product_attention(self.q, keys, values).view(1, -1), out)
            self.normed(x, gains[1], second, self.rooms[1])
            x.addmm_(F.silu(gate, inplace=True).mul_(up), down)
        return self.normed(x, MODEL.model.norm.weight, self.head)[0]


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, one thread; ", end="")
    print(f"Python {platform.python_version()}, torch {torch.__version__}\n")
    ids = torch.tensor([[VOCAB.bos_id, *VOCAB.encode(max(load_documents("tales"), key=len))]])[:, :200]
    whole, tokens, planned = MODEL(ids), ids[0].tolist(), plan(MODEL)
    ways = {"the model": lambda: in_chunks(MODEL, ids, 1)}
    for level, name in enumerate(LEVELS):
        step = Variant(level)
        ways[name] = lambda step=step: torch.stack([step(token, place)[0] for place, token in enumerate(tokens)])[None]
    ways["plan(model): these ideas, and checks before each step"] = lambda: in_chunks(planned, ids, 1)
    times, gaps = {name: [] for name in ways}, {}
    for _ in range(given.repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            logits = way()
            times[name].append(time.perf_counter() - start)
            report = compare_logits(logits, whole)
            assert report.equal, f"{name}: {report}"
            gaps[name] = report.max_abs_diff
    print(f"{len(tokens)} tokens, one a step; median of {given.repeats}; the model = 1\n")
    print("| variant | speed | the one before = 1 | logits differ by |\n|---|---|---|---|")
    before = times["the model"]
    for name, spent in times.items():
        speed, gain = (
            statistics.median(b / s for b, s in zip(other, spent, strict=True))
            for other in (times["the model"], before)
        )
        print(f"| {name} | {speed:.2f} | {gain:.2f} | {gaps[name]:.0e} |")
        before = spent
    prompts = {"in one pass": [len(tokens)], "token by token": 1}
    spent = {name: [] for name in prompts}
    for _ in range(given.repeats):
        for name, split in prompts.items():
            start = time.perf_counter()
            in_chunks(planned, ids, split)
            spent[name].append(time.perf_counter() - start)
    ratio = statistics.median(b / a for a, b in zip(*spent.values(), strict=True))
    print(f"\nA prompt of {len(tokens)} tokens in one pass takes 1 / {ratio:.1f} of the time of planned single steps")


if __name__ == "__main__":
    main()

"""Serving: blocks are counted right, a paged cache has the model's own logits, an engine the texts."""

import dataclasses
import gc
import random
import weakref

import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils.compare_logits import compare_logits
from course_utils.generation import generate, stream
from course_utils.generation.row import Row
from course_utils.sampling import SamplingParams
from course_utils.serving import BlockPool, Engine, PagedCache
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import CharVocab
from course_utils.training.trainer import new_model
from course_utils.transformer import Transformer, TransformerConfig

VOCAB = CharVocab("abcdefgh. ")
CONTEXT = 48


def small_model(n_layer=1, seed=0):
    config = TransformerConfig(len(VOCAB), n_layer, n_head=4, n_kv_head=2, n_embd=16, block_size=CONTEXT)
    model = new_model(VOCAB, config, seed).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.mul_(15)  # logits of a size that makes a difference
    return model


@pytest.fixture(scope="module")
def model():
    return small_model()


# --- the pool ---


class Shadow:
    """A pool, with what each block holds written down beside it."""

    def __init__(self, n_blocks, block_size):
        self.pool, self.holds, self.tables = BlockPool(n_blocks, block_size), {}, []

    def begin(self, ids):
        """A text: its table, or None if there is no room for it."""
        size = self.pool.block_size
        found = self.pool.find(ids)
        for index, block in enumerate(found):
            assert self.holds[block] == tuple(ids[: (index + 1) * size])
        assert len(found) * size < len(ids)
        self.pool.hold(found)
        new = self.pool.take(-(-len(ids) // size) - len(found))
        if new is None:
            self.pool.release(found)
            return
        held = {block for table in self.tables for block in table} | {*found}
        assert not held & {*new} and len({*new}) == len(new)
        for block in new:
            self.holds.pop(block, None)
        table = found + new
        for index in range(len(found), len(ids) // size):
            self.pool.fill(table, index, ids[index * size : (index + 1) * size])
            self.holds[table[index]] = tuple(ids[: (index + 1) * size])
        self.tables.append(table)

    def check(self):
        pool = self.pool
        counts = [sum(table.count(block) for table in self.tables) for block in range(pool.n_blocks)]
        assert pool.n_holders == counts and pool.n_free == counts.count(0)
        for block in pool.findable:  # what is said to be findable is found
            assert pool.find([*self.holds[block], 0])[-1] == block


TOKENS = st.lists(st.integers(0, 1), min_size=1, max_size=9)


@given(st.integers(1, 12), st.integers(1, 3), st.lists(st.one_of(TOKENS, st.integers(0, 5)), max_size=40))
def test_the_pool_counts_right_and_finds_only_what_is_there(n_blocks, block_size, moves):
    shadow = Shadow(n_blocks, block_size)
    for move in moves:
        if isinstance(move, list):
            shadow.begin(move)
        elif move < len(shadow.tables):
            shadow.pool.release(shadow.tables.pop(move))
        shadow.check()


def test_the_least_recently_used_block_is_taken_first_and_the_end_of_a_text_before_its_beginning():
    pool = BlockPool(4, 2)
    first, second = pool.take(2), pool.take(2)
    for table, ids in ((first, [1, 2, 3, 4]), (second, [5, 6, 7, 8])):
        pool.fill(table, 0, ids[:2])
        pool.fill(table, 1, ids[2:])
    pool.release(second)
    pool.release(first)
    assert pool.take(1) == [second[1]] and pool.find([5, 6, 7, 8, 9]) == second[:1]
    assert pool.find([1, 2, 3, 4, 9]) == first and pool.n_free == 3


def test_equal_blocks_become_one():
    pool = BlockPool(4, 2)
    one, other = pool.take(1), pool.take(1)
    pool.fill(one, 0, [5, 6])
    pool.fill(other, 0, [5, 6])
    assert other == one and pool.n_holders[one[0]] == 2 and pool.n_free == 3


def test_the_same_tokens_behind_another_beginning_are_another_block():
    pool = BlockPool(4, 2)
    table = pool.take(2)
    pool.fill(table, 0, [5, 6])
    pool.fill(table, 1, [7, 8])
    assert pool.find([7, 8, 0]) == [] and pool.find([5, 6, 7, 8]) == table[:1] and pool.find([5, 6, 7, 8, 0]) == table


def test_the_pool_refuses_bad_numbers_and_a_second_release():
    with pytest.raises(ValueError, match="n_blocks is 0; expected 1 or more"):
        BlockPool(0, 4)
    with pytest.raises(TypeError, match=r"block_size is 2\.5"):
        BlockPool(4, 2.5)
    pool = BlockPool(2, 4)
    with pytest.raises(ValueError, match="n is -1"):
        pool.take(-1)
    table = pool.take(1)
    pool.release(table)
    with pytest.raises(ValueError, match=f"Block {table[0]} is released, but nobody holds it"):
        pool.release(table)
    assert pool.take(3) is None and pool.n_free == 2


# --- the paged cache ---


def feed(model, cache, tables, ids):
    """Logits after each of the new tokens of each text, (B, T, V)."""
    for table in tables:
        assert cache.reserve(table, len(ids[0]))
    with torch.no_grad():
        return model(torch.tensor(ids), cache.rows(tables))


@pytest.mark.parametrize("block_size", [1, 3, 4, 16, 64])
def test_texts_of_different_lengths_in_one_pass_have_the_logits_that_they_have_alone(block_size):
    model = small_model(n_layer=2)
    texts = [torch.randint(7, len(VOCAB), (n,)).tolist() for n in (1, 5, 16, 31)]
    cache = PagedCache(model, 80, block_size)
    tables = [cache.begin(ids) for ids in texts]
    for table, ids in zip(tables, texts, strict=True):
        feed(model, cache, [table], [ids])
    for step in range(6):
        new = [[7 + (step * 3 + row) % 8] for row in range(4)]
        logits = feed(model, cache, tables, new)
        for ids, one, row_logits in zip(texts, new, logits, strict=True):
            ids += one
            with torch.no_grad():
                assert compare_logits(model(torch.tensor([ids]))[0, -1:], row_logits)


def test_two_texts_that_part_inside_a_block_copy_it_when_they_write(model):
    cache = PagedCache(model, 8, 4)
    ids = [7, 8, 9, 10, 11, 12]
    table = cache.begin(ids)
    feed(model, cache, [table], [ids])
    other = cache.fork(table)
    assert other.blocks == table.blocks and cache.pool.n_free == 6
    one, two = feed(model, cache, [table, other], [[13, 14, 15], [9, 8, 7]])
    assert other.blocks[0] == table.blocks[0] and not {*other.blocks[1:]} & {*table.blocks[1:]}
    with torch.no_grad():
        for logits, new in ((one, [13, 14, 15]), (two, [9, 8, 7])):
            assert compare_logits(model(torch.tensor([ids + new]))[0, -3:], logits)
    cache.release(table)
    cache.release(other)
    assert cache.pool.n_free == 8 and not any(cache.pool.n_holders)


def test_room_that_is_reserved_before_a_fork_is_shared_no_longer_once_it_is_written(model):
    cache = PagedCache(model, 12, 2)
    table = cache.begin([7, 8, 9])
    assert cache.reserve(table, 9)  # five blocks in all
    with torch.no_grad():
        model(torch.tensor([[7, 8, 9]]), cache.rows([table]))
    other = cache.fork(table)
    assert cache.reserve(other, 4)
    assert len({*table.blocks} & {*other.blocks}) == 2  # the full one, and the one behind those that are written
    with pytest.raises(ValueError, match=r"Row 0 would write into block \d+, which is shared\. Call reserve first"):
        model(torch.tensor([[7] * 6]), cache.rows([other]))


def test_a_shared_block_is_never_written(model):
    cache = PagedCache(model, 4, 4)
    table = cache.begin([7, 8])
    feed(model, cache, [table], [[7, 8]])
    cache.fork(table)
    with pytest.raises(ValueError, match=f"Row 0 would write into block {table.blocks[0]}, which is shared"):
        model(torch.tensor([[9]]), cache.rows([table]))


def test_without_room_nothing_changes(model):
    cache = PagedCache(model, 2, 4)
    table, other = cache.begin([7]), cache.begin([8])
    assert cache.reserve(table, 5) and not cache.reserve(other, 1) and other.blocks == [] and cache.pool.n_free == 0
    with pytest.raises(ValueError, match=r"Row 0 has room for 8 more tokens, not for 9\. Call reserve first"):
        model(torch.tensor([[7] * 9]), cache.rows([table]))
    with pytest.raises(ValueError, match="token_ids has 2 rows; expected 1, one for each text"):
        model(torch.tensor([[7], [7]]), cache.rows([table]))
    with pytest.raises(ValueError, match="attention_mask is given; expected None"):
        model(torch.tensor([[7]]), cache.rows([table]), attention_mask=torch.ones(1, 1))
    assert table.token_ids == []


def test_another_model_and_changed_weights_are_refused():
    model = small_model()
    engine = Engine(model, VOCAB, 8, 4)
    engine.submit("abc", SamplingParams(seed=0), StopCriteria(5))
    engine.step()
    with pytest.raises(ValueError, match=r"belongs to another model\. Make a new cache or a new Engine"):
        small_model()(torch.tensor([[7]]), engine.cache.rows([engine.running[0]._table]))
    with torch.no_grad():
        model.lm_head.weight.mul_(2)
    with pytest.raises(ValueError, match=r"weights have changed .* Make a new cache or a new Engine"):
        engine.step()
    assert engine.cache.pool.n_free == 8 and not engine.running and len(engine.waiting) == 1


# --- random schedules ---


@dataclasses.dataclass
class Asked:
    """A request of a schedule: when it comes, what is asked, and when it is cancelled."""

    arrives: int
    prompt: str
    sampling: SamplingParams
    stopping: StopCriteria
    cancelled_after: int | None = None
    request: object = None


BEGINNINGS = ("abcabcabcabcabcab", "hgfedcba. abcdefghabcd", "")


def some_request(rng, longest):
    beginning = rng.choice(BEGINNINGS)
    prompt = (beginning + "".join(rng.choices("abcdefgh. ", k=rng.randint(0, 12))))[:longest]
    sampling = SamplingParams(
        temperature=rng.choice([0, 0.7, 1.0, 2.0]), top_k=rng.choice([None, 3]), top_p=rng.choice([None, 0.9]),
        seed=rng.randint(0, 999),
    )  # fmt: skip
    stop = rng.choice(
        [()] * 7 + [("a", "b", "c"), ("ab", ". "), tuple("abcdefgh. ")]
    )  # the last ends in the first token
    stopping = StopCriteria(rng.choice([0, 1, 2, 9, 14, 20, 99]), eos=rng.random() < 0.2, stop=stop)
    return Asked(rng.randint(0, 6), prompt, sampling, stopping, rng.choice([None] * 6 + [0, 1, 5]))


def some_schedule(rng):
    """Requests, and an engine's sizes: from just enough blocks for the largest of them to more than all need."""
    block_size = rng.choice([1, 2, 3, 4, 7, 16, 32])
    asked = [some_request(rng, rng.choice([5, 12, 30])) for _ in range(rng.randint(2, 5))]
    if crowded := rng.random() < 0.3:  # all at once, and all of them grow: the blocks run out
        for one in asked:
            one.arrives, one.cancelled_after, one.stopping = 0, None, StopCriteria(15, eos=False)
    longest = max(min(1 + len(one.prompt) + one.stopping.max_new_tokens, CONTEXT + 1) for one in asked)
    least = -(-longest // block_size)
    sizes = dict(
        n_blocks=least + 1 if crowded else rng.choice([least, least + 1, 2 * least, 9 * least]),
        block_size=block_size,
        max_tokens_a_step=rng.choice([16, 256] if crowded else [1, 3, 16, 256]),
        max_running=None if crowded else rng.choice([None, None, 1, 3]),
    )
    return asked, sizes


def stored(engine):
    """What the findable blocks hold: {(block, its content's number): keys and values}."""
    pool = engine.cache.pool
    return {(block, pool._content[block]): engine.cache.store[:, block].clone() for block in pool.findable}


def drive(engine, asked):
    """Let the requests come and go; what must hold in each step is asserted here. Returns the steps."""
    steps, pool = [], engine.cache.pool
    while not all(one.request and one.request.ended for one in asked):
        for one in asked:
            if one.request is None and one.arrives <= len(steps):
                one.request = engine.submit(one.prompt, one.sampling, one.stopping)
            if one.cancelled_after is not None and one.arrives + one.cancelled_after <= len(steps):
                one.request.cancel()
        before = stored(engine)
        steps.append(step := engine.step())
        for key, old in before.items():
            if pool._content[key[0]] == key[1]:
                assert engine.cache.store[:, key[0]].equal(old), "a full block was written"
        running = [number for number, _ in step.tables]
        assert [*running, *step.waiting] == sorted([*running, *step.waiting])
        assert step.n_fed <= engine.max_tokens_a_step
        assert engine.max_running is None or len(running) <= engine.max_running
        counts = [0] * pool.n_blocks
        for _, blocks in step.tables:
            for block in blocks:
                counts[block] += 1
        assert counts == pool.n_holders and step.n_free == counts.count(0)
        assert {block: len(held) for block, held in step.holders.items()} == {b: n for b, n in enumerate(counts) if n}
        assert len(steps) < 3000
    assert pool.n_free == pool.n_blocks and not engine.running and not engine.waiting
    return steps


@pytest.fixture
def seen(monkeypatch):
    """The logits of each choice that rows make, by row."""
    seen, choose = {}, Row.choose

    def noting(row, logits):
        seen.setdefault(row, []).append(torch.tensor(logits))
        return choose(row, logits)

    monkeypatch.setattr(Row, "choose", noting)
    return seen


def same_as_alone(model, request, logits):
    """Whether a text is that of `generate`, of which the logits were within tolerance up to where the two part.

    Given the logits, a draw is exact. So where logits are equal within tolerance and the tokens are not, u was
    within rounding of a border: a near tie.
    """
    row = request.row.request
    alone = generate(model, VOCAB, row.prompt, dataclasses.replace(row.sampling, seed=row.seed), row.stopping)
    got = request.row.token_ids
    n_same = next((i for i, (a, b) in enumerate(zip(got, alone.token_ids, strict=False)) if a != b), len(got))
    if logits:
        n_compared = min(n_same + 1, len(got))  # choice i has the logits after the first i tokens
        ids = [*row.prompt_ids, *got[: n_compared - 1]]
        with torch.no_grad():
            own = model(torch.tensor([ids]))[0, len(row.prompt_ids) - 1 :]
        assert compare_logits(own, torch.stack(logits[:n_compared]).float()), "logits differ by more than rounding"
    if request.generation is None:
        return list(alone.token_ids[: len(got)]) == got
    return without_logprobs(request.generation) == without_logprobs(alone)


def without_logprobs(generation):
    """All of a text that does not depend on the last digits of its logits."""
    return dataclasses.replace(generation, logprobs=())


def test_texts_and_logits_are_those_of_each_text_alone_in_200_random_schedules(model, seen):
    rng, n_texts, near_ties, n_preempted, n_found = random.Random(5), 0, 0, 0, 0
    for _ in range(200):
        asked, sizes = some_schedule(rng)
        engine = Engine(model, VOCAB, **sizes)
        seen.clear()
        steps = drive(engine, asked)
        logits = dict(seen)
        for one in asked:
            n_texts += 1
            near_ties += not same_as_alone(model, one.request, logits.get(one.request.row))
        n_preempted += sum(len(step.preempted) for step in steps)
        n_found += sum(n > 0 for step in steps for _, n in step.admitted)
    assert n_texts > 600 and n_preempted > 50 and n_found > 200  # the schedules have what they are for
    assert near_ties <= n_texts / 200


def test_ten_thousand_requests_with_random_cancels_leave_nothing_behind(model):
    rng, engine, asked, sample = random.Random(3), Engine(model, VOCAB, 40, 4, 64), [], []
    process, memory = psutil.Process(), None
    for number in range(10_000):
        sampling, stopping = SamplingParams(seed=number), StopCriteria(rng.randint(1, 2))
        request = engine.submit(rng.choice(("abcdefgh", "hh", "abc")), sampling, stopping)
        asked.append(request)
        sample += [request] if number % 50 == 0 else []
        if rng.random() < 0.1:
            rng.choice(asked[-20:]).cancel()
        if number % 20 == 19:
            engine.step()
        if number == 9_901:
            forgotten = weakref.ref(request)
        if len(asked) == 1_000:
            engine.run()
            asked.clear()
            memory = memory or process.memory_info().rss
            assert engine.cache.pool.n_free == 40 and not any(engine.cache.pool.n_holders)
    del request
    gc.collect()
    assert forgotten() is None and process.memory_info().rss - memory < 20 * 1024**2
    assert len(engine.cache.pool._key_of) == len(engine.cache.pool._found_by) <= 40
    assert len(sample) == 200 and sum(one.cancelled for one in sample) < 50
    assert all(same_as_alone(model, one, None) for one in sample)


# --- what a request can count on ---


def test_it_is_refused_at_once_with_the_sizes_if_it_can_never_fit(model):
    engine = Engine(model, VOCAB, 4, 4)
    with pytest.raises(
        ValueError, match=r"grow to 17 tokens \(4 of prompt, <bos> .* 13 new .* 5 blocks of 4; .* has 4"
    ):
        engine.submit("abc", stopping=StopCriteria(13))
    engine.submit("abc", SamplingParams(seed=0), StopCriteria(12))
    engine.run()
    with pytest.raises(ValueError, match="The prompt has 61 tokens"):
        engine.submit("a" * 60)
    with pytest.raises(TypeError, match="sampling is"):
        engine.submit("a", 0.5)


def test_an_engine_says_what_it_cannot_use(model):
    with pytest.raises(TypeError, match="model is a str; expected a Transformer, whose cache can be paged"):
        Engine("tiny", VOCAB, 4)
    with pytest.raises(ValueError, match="max_tokens_a_step is 0; expected 1 or more"):
        Engine(model, VOCAB, 4, max_tokens_a_step=0)
    with pytest.raises(ValueError, match="max_running is 0; expected 1 or more"):
        Engine(model, VOCAB, 4, max_running=0)


def test_a_shared_beginning_is_computed_once_and_a_changed_token_ends_the_sharing(model):
    engine = Engine(model, VOCAB, 40, 4)
    beginning, one = "abcdefghabcdefg", StopCriteria(1, eos=False)  # with <bos> 16 tokens: four blocks
    for prompt in (beginning + "a", beginning + "b", beginning, beginning[:5] + "a" + beginning[6:] + "a"):
        engine.submit(prompt, SamplingParams(seed=0), one)
        engine.run()
    prompts = [beginning + "c", beginning + "d"]
    for prompt in prompts:
        engine.submit(prompt, SamplingParams(seed=0), one)
    (step,) = engine.run()
    assert step.admitted == ((4, 16), (5, 16)) and step.prefilled == ((4, 1), (5, 1))
    engine = Engine(model, VOCAB, 40, 4)
    found = []
    for prompt in (beginning + "a", beginning + "b", beginning, beginning[:5] + "a" + beginning[6:] + "a"):
        engine.submit(prompt, SamplingParams(seed=0), one)
        found += [n for step in engine.run() for _, n in step.admitted]
    assert found == [0, 16, 12, 4]  # the third must feed its last token, the fourth has another one in its second block


def test_a_preempted_text_gives_its_blocks_back_and_finds_what_is_left_of_them(model):
    engine = Engine(model, VOCAB, 6, 4)
    requests = [engine.submit("abcdefg"[:n], SamplingParams(seed=n), StopCriteria(16, eos=False)) for n in (7, 5)]
    steps = engine.run()
    assert [step.preempted for step in steps if step.preempted] == [(1,)]
    assert [number for step in steps for number in step.finished] == [0, 1]
    assert [number for step in steps for number, _ in step.admitted] == [0, 1, 1]
    assert all(same_as_alone(model, request, None) for request in requests)


def test_a_long_prompt_goes_in_by_chunks_while_others_are_decoded(model):
    engine = Engine(model, VOCAB, 40, 4, max_tokens_a_step=8)
    engine.submit("ab", SamplingParams(seed=1), StopCriteria(9, eos=False))
    engine.step()
    engine.submit("abcdefgh" * 4, SamplingParams(seed=1), StopCriteria(2, eos=False))
    steps = [engine.step() for _ in range(5)]
    assert [step.prefilled for step in steps] == [((1, 7),)] * 4 + [((1, 5),)]
    assert [step.decoded for step in steps] == [(0,)] * 5


def test_a_stream_gives_the_same_pieces_as_alone_and_lets_the_others_go_on(model):
    engine = Engine(model, VOCAB, 40, 4)
    arguments = ("abc", SamplingParams(seed=4), StopCriteria(20, eos=False, stop=("zz", "h.")))
    one, other = engine.submit(*arguments), engine.submit("h", SamplingParams(seed=5), StopCriteria(4, eos=False))
    chunks = list(one.stream())
    alone = list(stream(model, VOCAB, *arguments))
    assert [chunk.text for chunk in chunks] == [chunk.text for chunk in alone]
    assert chunks[-1].generation is one.generation and same_as_alone(model, one, None)
    assert [chunk.text for chunk in other.stream()] == [other.generation.text, ""]  # it has ended long since
    cancelled = engine.submit(*arguments)
    pieces = cancelled.stream()
    next(pieces)
    cancelled.cancel()
    assert list(pieces) == [] and cancelled.generation is None and engine.cache.pool.n_free == 40
    one.cancel()
    assert not one.cancelled and one.generation is not None


def test_a_budget_of_no_tokens_ends_at_once(model):
    request = Engine(model, VOCAB, 4, 4).submit("abc", SamplingParams(seed=0), StopCriteria(0))
    assert request.ended and request.generation.finish_reason is FinishReason.LENGTH
    assert request.generation == generate(model, VOCAB, "abc", SamplingParams(seed=0), StopCriteria(0))


def test_logits_that_cannot_be_used_end_their_own_text_only(model, monkeypatch):
    choose = Row.choose

    def damaged(row, logits):
        choose(row, logits * float("nan") if row.request.prompt == "b" and row.n_sampled == 2 else logits)

    monkeypatch.setattr(Row, "choose", damaged)
    engine = Engine(model, VOCAB, 20, 4)
    requests = [engine.submit(prompt, SamplingParams(seed=1), StopCriteria(6, eos=False)) for prompt in "abc"]
    steps = engine.run()
    assert [step.failed for step in steps if step.failed] == [(1,)] and engine.cache.pool.n_free == 20
    assert requests[1].error is not None and requests[1].generation is None and requests[1].ended
    with pytest.raises(ValueError, match="Token 2 after the prompt 'b'"):
        list(requests[1].stream())
    assert all(same_as_alone(model, requests[i], None) for i in (0, 2))


@pytest.mark.parametrize("call", range(2, 9))
def test_an_interrupted_step_loses_no_text_and_no_block(model, monkeypatch, call):
    engine, calls, forward = Engine(model, VOCAB, 20, 4), 0, Transformer.forward

    def interrupted(self, *args, **options):
        nonlocal calls
        calls += 1
        logits = forward(self, *args, **options)  # the cache has taken the tokens in, and nobody has chosen yet
        if calls == call:
            raise KeyboardInterrupt
        return logits

    requests = [engine.submit(prompt, SamplingParams(seed=1), StopCriteria(6, eos=False)) for prompt in ("ab", "c", "")]
    with monkeypatch.context() as patched:
        patched.setattr(Transformer, "forward", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.run()
    assert engine.cache.pool.n_free == 20 and engine.waiting and not engine.running
    engine.run()
    assert engine.cache.pool.n_free == 20 and all(same_as_alone(model, request, None) for request in requests)


def test_the_model_is_back_in_its_mode_and_gradients_are_on_again(model):
    model.train()
    engine = Engine(model, VOCAB, 20, 4)
    engine.submit("ab", SamplingParams(seed=1), StopCriteria(2))
    engine.step()
    assert model.training and torch.is_grad_enabled()
    model.eval()


def test_inside_inference_mode_too(model):
    with torch.inference_mode():
        engine = Engine(model, VOCAB, 20, 4)
        request = engine.submit("ab", SamplingParams(seed=1), StopCriteria(9, eos=False))
        engine.step()
    engine.run()
    assert same_as_alone(model, request, None)

"""Training: seeded, resumable to the bit, nothing lost when it is stopped; and the command around it."""

import json
import math
from random import Random

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from course_utils import storyworld, text, training
from course_utils.checkpoint import fingerprint, load_model
from course_utils.text import CharVocab, load_documents, load_text
from course_utils.training import Corpus, Trainer, TrainingSettings, train_transformer
from course_utils.training import __main__ as command
from course_utils.training.__main__ import CHECKPOINT, main
from course_utils.training.corpus import IGNORED
from course_utils.training.muon import Muon, orthogonalise
from course_utils.training.trainer import new_model
from course_utils.transformer import TransformerConfig

GROUPS = [["a cat sat", "a dog ran off", "the end"] * 4, ["1+1=2", "2+2=4"] * 3]
DOCUMENTS = [document for group in GROUPS for document in group]
VOCAB = CharVocab.from_text("".join(DOCUMENTS))
CONFIG = TransformerConfig(len(VOCAB), n_layer=1, n_head=2, n_kv_head=1, n_embd=8, block_size=16)
SETTINGS = TrainingSettings(steps=12, batch=(3, 2), warmup=3, learning_rate=1e-2)


def trainer(settings=SETTINGS, config=CONFIG):
    return Trainer(new_model(VOCAB, config, 0), Corpus(VOCAB, GROUPS, config.block_size), settings)


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


# Batches


def test_a_row_is_one_document_from_bos_to_eos_and_the_target_is_the_next_token():
    for inputs, targets in Corpus(VOCAB, GROUPS, 16).batches((5, 4), seed=0, step=3):
        for row, wanted in zip(inputs.tolist(), targets.tolist(), strict=True):
            scored = [target for target in wanted if target != IGNORED]
            n = len(scored)
            assert row[0] == VOCAB.bos_id and row[1:n] == scored[:-1] and scored[-1] == VOCAB.eos_id
            assert VOCAB.decode(row) in DOCUMENTS
            assert row[n:] == [VOCAB.pad_id] * (len(row) - n) and wanted[n:] == [IGNORED] * (len(row) - n)


def test_a_batch_is_a_function_of_seed_and_step():
    corpus = Corpus(VOCAB, GROUPS, 16)

    def content(seed, step):
        return [part.tolist() for pair in corpus.batches((6, 3), seed, step) for part in pair]

    assert content(1, 5) == content(1, 5)
    assert len({json.dumps(content(*key)) for key in ((1, 5), (1, 6), (2, 5))}) == 3


def test_every_document_is_seen_and_little_is_padding():
    corpus = Corpus(VOCAB := CharVocab.from_text(load_text("all")), [load_documents("tales")], 512)
    batches = [corpus.batches((14,), 0, step)[0] for step in range(30)]
    scored = sum(int((targets != IGNORED).sum()) for _, targets in batches)
    assert scored / sum(targets.numel() for _, targets in batches) > 0.9
    small = Corpus(VOCAB, [load_documents("tales")[:40]], 512)
    seen = {VOCAB.decode(row) for step in range(30) for row in small.batches((14,), 0, step)[0][0].tolist()}
    assert seen == set(load_documents("tales")[:40])


def test_a_document_longer_than_the_context_is_cut_and_no_target_is_lost():
    vocab = CharVocab.from_text("abcdefghij")
    corpus = Corpus(vocab, [["abcdefghij"]], 4)
    assert [len(row) for row in sorted(corpus.groups[0], key=lambda row: row.tolist())] == [5, 5, 4]
    assert sorted(np.concatenate([row[1:] for row in corpus.groups[0]])) == sorted([*vocab.encode("abcdefghij"), 1])


@pytest.mark.parametrize(
    ("groups", "error"), [("abc", TypeError), (["abc"], TypeError), ([], ValueError), ([[]], ValueError)]
)
def test_groups_that_are_none_are_refused(groups, error):
    with pytest.raises(error, match="xpected"):
        Corpus(VOCAB, groups, 16)


def test_a_batch_for_another_number_of_groups_is_refused():
    with pytest.raises(ValueError, match="for 2 groups"):
        Corpus(VOCAB, GROUPS, 16).batches((1,), 0, 0)


# Steps


def test_the_learning_rate_rises_then_falls_to_zero():
    settings = TrainingSettings(steps=100, warmup=10, learning_rate=0.5)
    rates = [settings.learning_rate_at(step) for step in range(101)]
    assert rates[0] == 0.05 and rates[9] == rates[10] == 0.5 and rates[100] == pytest.approx(0)
    assert rates[55] == pytest.approx(0.25) and rates[10:] == sorted(rates[10:], reverse=True)


def test_the_loss_is_the_mean_over_the_tokens_of_all_groups():
    one = trainer()
    with torch.no_grad():
        one.model.head.weight.zero_()  # every token equally likely
    assert one.take_step() == pytest.approx(math.log(len(VOCAB)), abs=1e-5)
    batches = one.corpus.batches((3, 2), 0, 0)
    assert one.n_tokens == sum(int((targets != IGNORED).sum()) for _, targets in batches)


def test_it_learns_and_is_the_same_for_the_same_seed():
    models = [new_model(VOCAB, CONFIG, 0) for _ in range(3)]
    seen = []
    long = TrainingSettings(steps=80, batch=(3, 2), warmup=5, learning_rate=1e-2)
    losses = train_transformer(models[0], VOCAB, GROUPS, long, lambda t: seen.append(t.step), show_progress=False)
    assert seen == list(range(1, 81)) and len(losses) == 80
    assert losses[-1] < losses[0] / 2 and not models[0].training
    assert train_transformer(models[1], VOCAB, GROUPS, long, show_progress=False) == losses
    assert torch.equal(weights(models[0]), weights(models[1]))
    other = TrainingSettings(steps=80, batch=(3, 2), warmup=5, learning_rate=1e-2, seed=1)
    assert train_transformer(models[2], VOCAB, GROUPS, other, show_progress=False) != losses


def test_new_weights_depend_on_the_seed_alone_and_leave_torchs_state():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    assert torch.equal(weights(new_model(VOCAB, CONFIG, 3)), weights(new_model(VOCAB, CONFIG, 3)))
    assert not torch.equal(weights(new_model(VOCAB, CONFIG, 3)), weights(new_model(VOCAB, CONFIG, 4)))
    assert torch.equal(torch.random.get_rng_state(), before)
    with pytest.raises(ValueError, match=f"the vocabulary has {len(VOCAB)}"):
        new_model(VOCAB, TransformerConfig(5, 1, 2, 1, 8, 16), 0)


# Muon


@pytest.mark.parametrize("shape", [(8, 8), (5, 24), (24, 5)])
def test_orthogonalising_keeps_the_directions_and_levels_their_strengths(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    u, before, v = torch.linalg.svd(matrix, full_matrices=False)
    after = u.T @ orthogonalise(matrix) @ v.T
    assert before.max() > 1.5 * before.min()  # they were not level
    assert torch.diagonal(after).min() > 0.65 and torch.diagonal(after).max() < 1.25
    assert torch.allclose(after, torch.diag(torch.diagonal(after)), atol=1e-9)
    assert torch.allclose(orthogonalise(7 * matrix), orthogonalise(matrix))


def test_muon_takes_the_steps_of_pytorchs_up_to_its_bfloat16():
    drawn = torch.Generator().manual_seed(2)
    start, gradients = torch.randn(12, 20, generator=drawn), torch.randn(5, 12, 20, generator=drawn)
    ours, theirs = torch.nn.Parameter(start.clone()), torch.nn.Parameter(start.clone())
    settings = {"lr": 0.02, "momentum": 0.95, "weight_decay": 0.1}
    optimizers = Muon([ours], **settings), torch.optim.Muon([theirs], **settings, adjust_lr_fn="match_rms_adamw")
    for gradient in gradients:
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        for optimizer in optimizers:
            optimizer.step()
    moved, expected = (ours - start).detach(), (theirs - start).detach()
    assert (moved - expected).norm() < 0.02 * expected.norm()


def test_the_matrices_of_the_layers_go_to_muon_and_all_else_to_adamw():
    one = trainer()
    muon, adamw = ({id(p) for g in o.param_groups for p in g["params"]} for o in one.optimizers)
    expected = {id(p) for name, p in one.model.named_parameters() if name.startswith("model.layers.") and p.ndim == 2}
    assert muon == expected and len(muon) == 7
    assert adamw == {id(p) for p in one.model.parameters()} - expected


# Stopping and going on


@pytest.mark.parametrize("stop_after", [0, 1, 5, 12])
def test_a_resumed_run_ends_with_the_same_weights_to_the_bit(tmp_path, stop_after):
    whole, first, second = trainer(), trainer(), trainer()
    for _ in range(12):
        whole.take_step()
    for _ in range(stop_after):
        first.take_step()
    first.save(tmp_path / "t.safetensors")
    second.resume(tmp_path / "t.safetensors")
    assert (second.step, second.losses, second.n_tokens) == (stop_after, first.losses, first.n_tokens)
    while second.step < 12:
        second.take_step()
    assert second.losses == whole.losses and torch.equal(weights(second.model), weights(whole.model))


@pytest.mark.parametrize("change", ["settings", "model"])
def test_other_settings_do_not_go_on_and_say_so(tmp_path, change):
    trainer().save(tmp_path / "t.safetensors")
    other = (
        trainer(TrainingSettings(steps=13, batch=(3, 2)))
        if change == "settings"
        else trainer(config=TransformerConfig(len(VOCAB), 2, 2, 1, 8, 16))
    )
    with pytest.raises(ValueError, match=r"begun with .*, and now .* is asked for"):
        other.resume(tmp_path / "t.safetensors")


def test_a_damaged_checkpoint_says_so(tmp_path):
    path = tmp_path / "t.safetensors"
    trainer().save(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged"):
        trainer().resume(path)


def test_a_checkpoint_with_the_older_names_of_the_weights_is_refused_with_that_reason(tmp_path):
    path = tmp_path / "t.safetensors"
    one = trainer()
    one.save(path)
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    save_file({"model.embedding.weight": one.model.model.embed_tokens.weight.detach()}, path, metadata=metadata)
    with pytest.raises(ValueError, match="older version of the course, in which the model's weights had other names"):
        trainer().resume(path)
    assert path.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [(dict(steps=0), "steps is 0"), (dict(batch=(1, 0)), "batch"), (dict(learning_rate=0), "above 0")],
)
def test_settings_that_cannot_train_are_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        TrainingSettings(**changes)


# The command

SMALL = [
    "--layers=1",
    "--width=8",
    "--heads=2",
    "--kv-heads=1",
    "--context=400",
    "--save-every=2",
    "--batch",
    "1",
    "2",
    "1",
]


@pytest.fixture
def few_documents(monkeypatch):
    """The command on a few of the shipped documents: here only the way is tested."""
    monkeypatch.setattr(
        "course_utils.training.__main__.load_documents", lambda kind, split: load_documents(kind, split)[:3]
    )


def test_the_command_is_stopped_and_goes_on_to_the_same_model(few_documents, tmp_path, monkeypatch, capsys):
    main([str(tmp_path / "whole"), "--steps", "5", *SMALL])
    printed = capsys.readouterr().out
    for kind in ("tales", "sums", "calls"):
        assert f"{kind}: " in printed
    assert printed.count("floor") == printed.count("bigram") == 3

    take_step = Trainer.take_step

    def interrupted(self):
        if self.step == 3:
            raise KeyboardInterrupt
        return take_step(self)

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "take_step", interrupted)
        main([str(tmp_path / "cut"), "--steps", "5", *SMALL])
    assert "last checkpoint" in capsys.readouterr().out and (tmp_path / "cut" / CHECKPOINT).exists()
    main([str(tmp_path / "cut"), "--steps", "5", *SMALL])
    assert "Going on from step 2." in capsys.readouterr().out
    assert fingerprint(*load_model(tmp_path / "cut")) == fingerprint(*load_model(tmp_path / "whole"))


def test_the_command_learns_a_text_of_ones_own(tmp_path, capsys):
    path = tmp_path / "my.txt"
    path.write_text("\n\n".join(f"Line {i} — déjà vu." for i in range(40)), encoding="utf-8", newline="\n")
    main([str(tmp_path / "m"), "--text", str(path), "--steps", "2", *SMALL])
    assert "own: " in capsys.readouterr().out
    model, vocab = load_model(tmp_path / "m")
    assert "é" in vocab.characters and model.config.vocab_size == len(vocab)


def test_the_package_says_how_it_is_called():
    assert "python -m course_utils.training" in training.__doc__ and text.SHIPPED == ("tales", "sums", "calls")


def test_more_tales_are_written_by_the_grammar_and_none_is_held_out(monkeypatch):
    random = Random(3)
    written = [storyworld.write("tales", random) for _ in range(6)]

    def documents(kind, split):
        return [written[2]] if (kind, split) == ("tales", "validation") else load_documents(kind, split)[:4]

    monkeypatch.setattr(command, "load_documents", documents)
    train, validation = command._shipped(more_tales=6, seed=3)
    assert train["tales"][:4] == load_documents("tales")[:4]
    assert train["tales"][4:] == written[:2] + written[3:]
    assert validation["tales"] == [written[2]] and len(train["sums"]) == 4

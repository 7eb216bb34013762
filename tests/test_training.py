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
from course_utils.file_lock import lock_for_writing
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


@pytest.mark.parametrize(
    ("vocab", "groups"),
    [
        (VOCAB, [[*GROUPS[0][:-1], "a end"], GROUPS[1]]),
        (VOCAB, [GROUPS[0], [*GROUPS[1], "2+2=4"]]),
        (VOCAB, [GROUPS[1], GROUPS[0]]),
        # The same ids mean other characters: only the vocabulary tells.
        (CharVocab([*VOCAB.characters[:-1], "z"]), [[text.replace("t", "z") for text in group] for group in GROUPS]),
    ],
)
def test_other_documents_do_not_go_on_under_the_settings_of_then(tmp_path, vocab, groups):
    path = tmp_path / "t.safetensors"
    first = trainer()
    first.take_step()
    first.save(path)
    other = Trainer(new_model(vocab, CONFIG, 0), Corpus(vocab, groups, CONFIG.block_size), SETTINGS)
    before = weights(other.model).clone()
    with pytest.raises(ValueError, match="begun with another text: the documents or the vocabulary differ"):
        other.resume(path)
    assert torch.equal(weights(other.model), before) and other.step == 0


def test_the_order_in_which_settings_were_written_does_not_matter(tmp_path):
    path = tmp_path / "t.safetensors"
    one = trainer()
    one.take_step()
    one.save(path)
    with safe_open(path, framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    about = json.loads(metadata["about"])
    turned = {name: dict(reversed(about[name].items())) for name in reversed(about)}
    save_file(tensors, path, metadata=metadata | {"about": json.dumps(turned)})
    second = trainer(TrainingSettings(**{name: getattr(SETTINGS, name) for name in reversed(about["settings"])}))
    second.resume(path)
    assert second.step == 1


@pytest.mark.parametrize("harm", ["a weight", "a state", "all states", "shape"])
def test_a_checkpoint_that_lacks_something_is_refused_and_not_filled_up(tmp_path, harm):
    path = tmp_path / "t.safetensors"
    one = trainer()
    one.take_step()
    one.save(path)
    with safe_open(path, framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    name = "model.model.norm.weight"
    if harm == "shape":
        tensors[name] = torch.ones(1)  # which would be copied to every place
    drop = {
        "a weight": [name],
        "a state": [n for n in tensors if n.startswith("1.") and n.endswith("model.norm.weight")],
        "all states": [n for n in tensors if n[0] in "01"],
        "shape": [],
    }[harm]
    save_file({n: tensor for n, tensor in tensors.items() if n not in drop}, path, metadata=metadata)
    with pytest.raises(ValueError, match="damaged: its tensors are not those of the model"):
        trainer().resume(path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"about": "no json", "losses": "[]", "n_tokens": "0"}])
def test_another_file_is_no_checkpoint(tmp_path, metadata):
    path = tmp_path / "t.safetensors"
    save_file({"x": torch.ones(1)}, path, metadata=metadata)
    with pytest.raises(ValueError, match="no checkpoint of a training"):
        trainer().resume(path)


def test_a_checkpoint_that_did_not_note_its_text_is_refused_with_that_reason(tmp_path):
    path = tmp_path / "t.safetensors"
    one = trainer()
    one.save(path)
    with safe_open(path, framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, path, metadata={key: value for key, value in metadata.items() if key != "data"})
    with pytest.raises(ValueError, match="older version of the course, which did not note its text"):
        trainer().resume(path)


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
    [
        (dict(steps=0), "steps is 0"),
        (dict(steps=2.5), "steps is 2.5; expected an integer"),
        (dict(batch=(1, 0)), "batch"),
        (dict(batch=(1, 2.0)), "A number in batch is 2.0"),
        (dict(learning_rate=0), "above 0"),
        (dict(learning_rate=math.inf), "learning_rate is inf"),
        (dict(learning_rate="3e-3"), "learning_rate is '3e-3'; expected a number"),
        (dict(clip=math.nan), "clip is nan"),
        (dict(weight_decay=-1.0), "weight_decay is -1.0; expected a number of 0 or more"),
        (dict(warmup=-1), "warmup is -1"),
        (dict(seed=-1), "seed is -1"),
    ],
)
def test_settings_that_cannot_train_are_refused(changes, said):
    with pytest.raises((ValueError, TypeError), match=said):
        TrainingSettings(**changes)


def test_a_batch_for_another_number_of_groups_is_refused_before_the_first_step():
    with pytest.raises(ValueError, match="for 2 groups"):
        trainer(TrainingSettings(steps=1, batch=(1,)))


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


OWN = [
    "--steps=2",
    "--layers=1",
    "--width=16",
    "--heads=2",
    "--kv-heads=1",
    "--context=64",
    "--batch",
    "2",
    "--save-every=1",
]


def text_of(words, path, n=40):
    random = Random(0)
    documents = [" ".join(random.choice(words) for _ in range(8)) + "." for _ in range(n)]
    path.write_text("\n\n".join(documents), encoding="utf-8", newline="\n")
    return path


def refused(arguments, capsys):
    """What the command says when it refuses, before it has taken a step."""
    with pytest.raises(SystemExit) as ended, pytest.MonkeyPatch.context() as patched:
        patched.setattr(Trainer, "take_step", lambda _: pytest.fail("it was trained"))
        main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_a_text_with_more_characters_than_a_bigram_can_hold_is_learned_and_its_loss_told(tmp_path, capsys):
    characters = [chr(0x4E00 + i) for i in range(5200)]
    Random(0).shuffle(characters)
    path = tmp_path / "big.txt"
    documents = ["".join(characters[i : i + 52]) + "。" for i in range(0, 5200, 52)]
    path.write_text("\n\n".join(documents), encoding="utf-8", newline="\n")
    main([str(tmp_path / "m"), "--text", str(path), *OWN])
    assert "nats a token; no bigram, since 5209 tokens are too many" in capsys.readouterr().out
    assert len(load_model(tmp_path / "m")[1]) == 5209


def test_going_on_with_another_text_is_refused_and_the_folder_keeps_its_vocabulary(tmp_path, monkeypatch, capsys):
    first = text_of(["abba", "cab", "bad", "dab"], tmp_path / "a.txt")
    second = text_of(["wxxw", "yxw", "zyx", "xzw"], tmp_path / "b.txt")
    take_step = Trainer.take_step
    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "take_step", lambda self: take_step(self) if self.step < 1 else interrupt())
        main([str(tmp_path / "m"), "--text", str(first), *OWN])
    kept = fingerprint(*load_model(tmp_path / "m"))
    assert "begun with another text" in refused([tmp_path / "m", "--text", second, *OWN], capsys)
    assert fingerprint(*load_model(tmp_path / "m")) == kept
    capsys.readouterr()
    main([str(tmp_path / "m"), "--text", str(first), *OWN])  # with the text of then it goes on
    assert "Going on from step 1." in capsys.readouterr().out


def interrupt():
    raise KeyboardInterrupt


def test_a_text_that_was_edited_meanwhile_is_another_text(tmp_path, capsys):
    path = text_of(["abba", "cab"], tmp_path / "a.txt")
    main([str(tmp_path / "m"), "--text", str(path), *OWN])
    held_out, *documents = path.read_text(encoding="utf-8").split("\n\n")
    documents[3] = "abba " + documents[3]
    path.write_text("\n\n".join([held_out, *documents]), encoding="utf-8", newline="\n")
    assert "begun with another text" in refused([tmp_path / "m", "--text", path, *OWN], capsys)


def test_a_model_that_was_not_trained_in_the_folder_is_not_written_over(tmp_path, capsys):
    path = text_of(["abba", "cab"], tmp_path / "a.txt")
    main([str(tmp_path / "m"), "--text", str(path), *OWN])
    (tmp_path / "m" / CHECKPOINT).unlink()
    kept = fingerprint(*load_model(tmp_path / "m"))
    said = refused([tmp_path / "m", "--text", path, *OWN], capsys)
    assert "holds model.safetensors and no training.safetensors" in said and "--from" in said
    assert fingerprint(*load_model(tmp_path / "m")) == kept


def test_two_runs_in_one_folder_are_refused(tmp_path, capsys):
    path = text_of(["abba", "cab"], tmp_path / "a.txt")
    (tmp_path / "m").mkdir()
    lock = lock_for_writing(tmp_path / "m" / CHECKPOINT)
    assert "is in use: another run" in refused([tmp_path / "m", "--text", path, *OWN], capsys)
    lock.release()
    main([str(tmp_path / "m"), "--text", str(path), *OWN])
    lock_for_writing(tmp_path / "m" / CHECKPOINT).release()  # the run has let go of it


def test_what_the_end_would_trip_over_is_refused_before_the_first_step(tmp_path, capsys):
    path = text_of(["abba", "cab"], tmp_path / "a.txt")
    main([str(tmp_path / "start"), "--text", str(path), *OWN])
    path.write_text("q\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")  # held out: number 0
    arguments = [tmp_path / "m", "--text", path, *OWN]
    assert "'q'" in refused([*arguments, "--from", tmp_path / "start"], capsys)
    assert "--save-every is 0" in refused([*arguments, "--save-every=0"], capsys)
    assert "seed is -1" in refused([*arguments, "--seed=-1"], capsys)
    assert "There is no file" in refused([tmp_path / "m", "--text", tmp_path / "none.txt", *OWN], capsys)
    assert "a.txt" in refused([path, "--text", path, *OWN], capsys)  # the folder is a file
    assert not (tmp_path / "m").exists()


def test_a_folder_in_the_home_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    path = text_of(["abba", "cab"], tmp_path / "a.txt")
    main(["~/m", "--text", str(path), *OWN])
    assert (tmp_path / "home" / "m" / CHECKPOINT).exists() and not (tmp_path / "~").exists()


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

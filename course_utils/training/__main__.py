"""The command: `python -m course_utils.training FOLDER`. It saves as it goes, and the same command goes on."""

import argparse
from pathlib import Path
from random import Random

from filelock import BaseFileLock

from course_utils import metrics, storyworld
from course_utils.arguments import as_path
from course_utils.bigram import MAX_VOCAB_SIZE, BigramLM
from course_utils.checkpoint import load_model, save_model
from course_utils.file_lock import lock_for_writing
from course_utils.text import SHIPPED, CharVocab, load_documents, load_text, split_documents
from course_utils.training.corpus import Corpus
from course_utils.training.trainer import Trainer, TrainingSettings, new_model, run
from course_utils.transformer import Transformer, TransformerConfig

CHECKPOINT = "training.safetensors"
Documents = dict[str, list[str]]


def main(arguments: list[str] | None = None) -> None:
    """Train, save every few steps, go on where an earlier run stopped, and say what was reached."""
    given = (parser := _parser()).parse_args(arguments)
    if given.text and given.more_tales:
        parser.error("--more-tales belongs to the course's documents; leave it out with --text")
    try:
        folder = as_path(given.folder)
        train, validation = _own(given.text) if given.text else _shipped(given.more_tales, given.seed)
        settings = TrainingSettings(given.steps, given.batch[: len(train)], given.learning_rate, seed=given.seed)
        model, vocab = _model(given)
        for documents in validation.values():
            vocab.encode_documents(documents)  # what the report at the end cannot read is refused now
        trainer = Trainer(model, Corpus(vocab, list(train.values()), model.block_size), settings)
        lock = _begin(trainer, vocab, folder)
    except (ValueError, OSError) as error:
        parser.error(str(error))

    def save_now_and_then(trainer: Trainer) -> None:
        if trainer.step % given.save_every == 0 or trainer.step == settings.steps:
            _save(trainer, vocab, folder)

    try:
        run(trainer, save_now_and_then)
    except KeyboardInterrupt:
        print(f"\nStopped. {folder} has the last checkpoint; the same command goes on from it.")
        return
    finally:
        lock.release()
    report(model, vocab, train, validation)


def _model(given: argparse.Namespace) -> tuple[Transformer, CharVocab]:
    if given.save_every < 1:
        raise ValueError(f"--save-every is {given.save_every}; expected 1 or more.")
    if given.start:
        return load_model(given.start)
    vocab = CharVocab.from_text(load_text(given.text or "all"))
    config = TransformerConfig(len(vocab), given.layers, given.heads, given.kv_heads, given.width, given.context)
    return new_model(vocab, config, given.seed), vocab


def _begin(trainer: Trainer, vocab: CharVocab, folder: Path) -> BaseFileLock:
    """Go on from the folder's checkpoint, or write a first one, so that a place that cannot be written shows now.

    Raises ValueError for a folder that another run is training in, or that holds a model without a checkpoint.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = lock_for_writing(folder / CHECKPOINT)
    try:
        if (folder / CHECKPOINT).exists():
            trainer.resume(folder / CHECKPOINT)
            print(f"Going on from step {trainer.step}.")
        elif there := [path.name for path in folder.glob("*.safetensors")]:
            raise ValueError(
                f"{folder} holds {there[0]} and no {CHECKPOINT}: a model that was not trained here, and would be "
                f"written over. Use another folder, or remove the file; --from {folder} begins with that model."
            )
        else:
            _save(trainer, vocab, folder)
    except BaseException:
        lock.release()
        raise
    return lock


def _save(trainer: Trainer, vocab: CharVocab, folder: Path) -> None:
    trainer.save(folder / CHECKPOINT)
    save_model(trainer.model, vocab, folder)


def report(model: Transformer, vocab: CharVocab, train: Documents, validation: Documents) -> None:
    """Print the loss on held-out documents of each kind, beside the bigram's and, for shipped ones, the floor.

    A bigram is a table of vocabulary by vocabulary. Where that would be too large, its loss is left out.
    """
    for kind, documents in validation.items():
        floor = f"floor {storyworld.floor(documents):.4f}, " if kind in SHIPPED else ""
        simple = f"no bigram, since {len(vocab)} tokens are too many for one"
        if len(vocab) <= MAX_VOCAB_SIZE:
            bigram = BigramLM.fit(vocab.encode_documents(train[kind]), len(vocab), add=1)
            simple = f"bigram {metrics.loss(bigram, vocab, documents):.4f}"
        print(f"{kind:>6}: {metrics.loss(model, vocab, documents):.4f} nats a token; {floor}{simple}")


def _shipped(more_tales: int, seed: int) -> tuple[Documents, Documents]:
    train, validation = ({kind: load_documents(kind, split) for kind in SHIPPED} for split in ("train", "validation"))
    random, held_out = Random(seed), set(validation["tales"])
    written = (storyworld.write("tales", random) for _ in range(more_tales))
    train["tales"] = [*train["tales"], *(tale for tale in written if tale not in held_out)]
    return train, validation


def _own(path: Path) -> tuple[Documents, Documents]:
    """A text of the learner's own: every twentieth document is held out."""
    documents = split_documents(load_text(path))
    held_out = documents[::20] if len(documents) >= 20 else []
    kept = [document for index, document in enumerate(documents) if index % 20 or not held_out]
    return {"own": kept}, {"own": held_out} if held_out else {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course_utils.training", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="where the model is kept; an unfinished one there is continued")
    parser.add_argument("--text", type=Path, help="a UTF-8 file to learn instead of the course's documents")
    parser.add_argument(
        "--more-tales", type=int, default=0, help="tales that the grammar writes in addition, none of them held out"
    )
    parser.add_argument(
        "--from", dest="start", metavar="MODEL", help="begin with the weights of this folder, or of tiny_llama"
    )
    parser.add_argument("--steps", type=int, default=TrainingSettings.steps)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=128, help="n_embd")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--kv-heads", type=int, default=2)
    parser.add_argument("--context", type=int, default=512, help="block_size, in tokens")
    parser.add_argument("--batch", type=int, nargs="+", default=TrainingSettings.batch, help="documents of each kind")
    parser.add_argument("--learning-rate", type=float, default=TrainingSettings.learning_rate)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-every", type=int, default=100, help="steps")
    return parser


if __name__ == "__main__":
    main()

"""The command: `python -m course_utils.training FOLDER`. It saves as it goes, and the same command goes on."""

import argparse
from pathlib import Path
from random import Random

from course_utils import metrics, storyworld
from course_utils.bigram import BigramLM
from course_utils.checkpoint import load_model, save_model
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
    train, validation = _own(given.text) if given.text else _shipped(given.more_tales, given.seed)
    settings = TrainingSettings(given.steps, given.batch[: len(train)], given.learning_rate, seed=given.seed)
    if given.start:
        model, vocab = load_model(given.start)
    else:
        vocab = CharVocab.from_text(load_text(given.text or "all"))
        config = TransformerConfig(len(vocab), given.layers, given.heads, given.kv_heads, given.width, given.context)
        model = new_model(vocab, config, given.seed)
    trainer = Trainer(model, Corpus(vocab, list(train.values()), model.block_size), settings)
    given.folder.mkdir(parents=True, exist_ok=True)
    checkpoint = given.folder / CHECKPOINT
    if checkpoint.exists():
        trainer.resume(checkpoint)
        print(f"Going on from step {trainer.step}.")

    def save_now_and_then(trainer: Trainer) -> None:
        if trainer.step % given.save_every == 0 or trainer.step == settings.steps:
            trainer.save(checkpoint)
            save_model(trainer.model, vocab, given.folder)

    try:
        run(trainer, save_now_and_then)
    except KeyboardInterrupt:
        print(f"\nStopped. {given.folder} has the last checkpoint; the same command goes on from it.")
        return
    report(model, vocab, train, validation)


def report(model: Transformer, vocab: CharVocab, train: Documents, validation: Documents) -> None:
    """Print the loss on held-out documents of each kind, beside the bigram's and, for shipped ones, the floor."""
    for kind, documents in validation.items():
        bigram = BigramLM.fit(vocab.encode_documents(train[kind]), len(vocab), add=1)
        floor = f"floor {storyworld.floor(documents):.4f}, " if kind in SHIPPED else ""
        ours, simple = metrics.loss(model, vocab, documents), metrics.loss(bigram, vocab, documents)
        print(f"{kind:>6}: {ours:.4f} nats a token; {floor}bigram {simple:.4f}")


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

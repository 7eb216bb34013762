"""Train a transformer on documents: in front of the learner, or for an hour by the command.

    python -m course_utils.training my_model --steps 4000

Seeded and resumable; what comes out is measured against two floors: the grammar's own probabilities and the bigram.
"""

from course_utils.training.corpus import Corpus
from course_utils.training.trainer import Trainer, TrainingSettings, new_model, train_transformer

__all__ = ["Corpus", "Trainer", "TrainingSettings", "new_model", "train_transformer"]

"""Make the picture of a panel in README.md: docs/panel.png.

python -m tests.browser.take_picture
"""

import tempfile
from pathlib import Path

from tests.browser.lab import Notebook, chromium, jupyterlab, write_notebook

ROOT = Path(__file__).resolve().parent.parent.parent
CELLS = (
    """from course_utils import bigram, text, widgets
from course_utils.sampling import SamplingParams
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))""",
    'widgets.explore_sampling(model, vocab, "The ", SamplingParams(0.7, top_p=0.8, seed=1))',
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_notebook(Path(folder) / "picture.ipynb", *CELLS)
        with jupyterlab(Path(folder)) as address, chromium(1250, 1100) as context:
            notebook = Notebook(context, address, "picture.ipynb")
            notebook.run_all()
            notebook.panel().screenshot(path=ROOT / "docs" / "panel.png")


if __name__ == "__main__":
    main()

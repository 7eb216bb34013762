"""Look for texts after which the shipped model's two likeliest tokens are all but equal, and write them to a file.

    python authoring/near_ties.py        renews data/tiny_llama/near_ties.json; needed after a change of the weights

It begins at the training tales' smallest margins and changes one early letter after another, keeping each change that
brings the two tokens closer. Two minutes.
"""

import json
from random import Random

import torch

from course_utils.checkpoint import load_model
from course_utils.clinic.ties import NEAR_TIES
from course_utils.text import load_documents

N_TEXTS, N_TRIES, BATCH = 8, 3000, 64


@torch.no_grad()
def main() -> None:
    torch.set_num_threads(1)
    model, vocab = load_model("tiny_llama")
    starts = [document[:199] for document in load_documents("tales") if len(document) >= 199][:200]
    rows = torch.tensor([[vocab.bos_id, *vocab.encode(start)] for start in starts])
    margins = torch.cat([model(part).topk(2).values.diff()[..., 0].neg() for part in rows.split(50)])
    margins[:, :80] = torch.inf  # far back there must be letters to change
    random, found = Random(0), []
    for place in margins.flatten().argsort()[:N_TEXTS].tolist():
        best = rows[place // 200, : place % 200 + 1]
        margin = margins.flatten()[place].item()
        for _ in range(N_TRIES // BATCH):
            tried = best.repeat(BATCH, 1)
            for text in tried:
                text[random.randrange(1, len(best) // 2)] = best[random.randrange(1, len(best))]
            gaps = model(tried)[:, -1].double().topk(2).values.diff()[:, 0].neg()
            if (gap := gaps.min().item()) < margin:
                best, margin = tried[gaps.argmin()], gap
        found.append((margin, vocab.decode(best.tolist())))
        print(f"{margin:.1e}", flush=True)
    texts = [text for _, text in sorted(found, reverse=True)]  # the nearest comes last
    NEAR_TIES.write_text(json.dumps(texts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

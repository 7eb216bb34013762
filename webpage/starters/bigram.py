# «question»
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, pairwise
from statistics import mean

from course_utils import storyworld
from course_utils.live.charts import bars
from course_utils.live.philox import uniform
from course_utils.live.tales import BEGIN, END, tales

# «rows»
rows = {}
for (before, after), n in sorted(Counter(pairwise(tales())).items()):
    rows.setdefault(before, {})[after] = n


def sample(temperature, seed, length=200):
    last, text = BEGIN, ""
    for step in range(length):
        row = rows[last]
        most = max(row.values())
        # «weights»
        weights = [(n / most) ** (1 / temperature) for n in row.values()]
        totals = list(accumulate(weights))
        # «u»
        u = uniform(seed, step)
        last = list(row)[bisect_right(totals, u * totals[-1])]
        text += last
    return text.replace(BEGIN, "").replace(END, "")


def repetition_rate(tokens, n):
    starts = range(len(tokens) - n + 1)
    stretches = [tuple(tokens[i : i + n]) for i in starts]
    # «rate»
    if not stretches:
        return None
    return 1 - len(set(stretches)) / len(stretches)


def real_words(text):
    words, known = storyworld.split_words(text), storyworld.words()
    return sum(word in known for word in words) / max(len(words), 1)


table = {}
for t in (0.3, 1, 2):
    texts = [sample(t, seed) for seed in range(8)]
    repeated = mean(repetition_rate(text, 4) for text in texts)
    table[f"T = {t}"] = [repeated, mean(map(real_words, texts))]
    print(f"T = {t}: {texts[0][:90]}")
bars(["«repetition»", "«words»"], table, "«title»", most=1)

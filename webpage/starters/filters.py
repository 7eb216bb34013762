# «question»
from course_utils.live.charts import bars

# «probs»
PROBS = [0.6, 0.25, 0.15]


def ranked(probs):
    return sorted(range(len(probs)), key=lambda token: -probs[token])


def renormalised(probs, kept):
    total = sum(probs[token] for token in kept)
    return [p / total if i in kept else 0.0 for i, p in enumerate(probs)]


def top_k(probs, k):
    return renormalised(probs, ranked(probs)[:k])


def top_p(probs, p):
    kept, total = [], 0.0
    for token in ranked(probs):
        kept.append(token)
        total += probs[token]
        # «enough»
        if total >= p:
            break
    return renormalised(probs, kept)


def with_temperature(probs, temperature):
    # «power»
    weights = [prob ** (1 / temperature) for prob in probs]
    return [weight / sum(weights) for weight in weights]


results = {
    "«before»": PROBS,
    "top-k 1": top_k(PROBS, 1),
    "top-p 0.8": top_p(PROBS, 0.8),
    "T 2 → top-p 0.8": top_p(with_temperature(PROBS, 2), 0.8),
    "top-p 0.8 → T 2": with_temperature(top_p(PROBS, 0.8), 2),
}
for name, probs in results.items():
    print(f"{name:16}", *[f"{prob:.3f}" for prob in probs])
bars(["A", "B", "C"], results, "«title»", most=1)

# «question»
import math

from course_utils.live.charts import bars

# «scores»
SCORES = [2, 1]


def probabilities(logits, temperature):
    scaled = [logit / temperature for logit in logits]
    # «top»
    top = max(scaled)
    weights = [math.exp(logit - top) for logit in scaled]
    total = sum(weights)
    return [weight / total for weight in weights]


at = {f"T = {t}": probabilities(SCORES, t) for t in (0.5, 1, 2)}
for name, probs in at.items():
    print(name, [round(prob, 3) for prob in probs])
bars(["«first»", "«second»"], at, "«title»", most=1)

# «question»
import math

from course_utils.live.charts import bars

TOKENS = [[1, 0], [0, 1], [1, 1], [0.5, -1], [0.2, 0.8], [-1, 0.3]]  # «tokens»
QUERY, KEY, VALUE = [[1, 0.5], [0, 1]], [[0.5, 0], [1, 1]], [[1, -1], [0.5, 1]]


def project(matrix, token):
    return [sum(weight * x for weight, x in zip(row, token)) for row in matrix]


def attend(query, keys, values):
    scores = [sum(q * k for q, k in zip(query, key)) / math.sqrt(len(query)) for key in keys]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    return [sum(w * x for w, x in zip(weights, column)) / sum(weights) for column in zip(*values)]


def without_cache(tokens):
    answers, positions = [], 0
    for n in range(1, len(tokens) + 1):
        keys = [project(KEY, token) for token in tokens[:n]]  # «again»
        values = [project(VALUE, token) for token in tokens[:n]]
        positions += n
        answers.append(attend(project(QUERY, tokens[n - 1]), keys, values))
    return answers, positions


def with_cache(tokens):
    keys, values, answers, positions = [], [], [], 0
    for token in tokens:
        keys.append(project(KEY, token))  # «once»
        values.append(project(VALUE, token))
        positions += 1
        answers.append(attend(project(QUERY, token), keys, values))
    return answers, positions


def kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


whole, cached = without_cache(TOKENS), with_cache(TOKENS)
print("«equal»", whole[0] == cached[0])
print("«positions»", whole[1], cached[1])
print("«one-token»", f"{kv_bytes(32, 8, 128, 1, 1, 2):,}")
print("«one-text»", kv_bytes(32, 8, 128, 4096, 1, 2) // 2**20, "MiB")
print("«eight-texts»", kv_bytes(32, 8, 128, 4096, 8, 2) // 2**30, "GiB")
bars(["«without»", "«with»"], {"«tokens-6»": [whole[1], cached[1]]}, "«title»")

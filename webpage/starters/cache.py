# «question»
import math

from course_utils.live.charts import bars

# «tokens»
TOKENS = [[1, 0], [0, 1], [1, 1], [0.5, -1], [0.2, 0.8], [-1, 0.3]]
# «matrices»
QUERY = [[1, 0.5], [0, 1]]
KEY = [[0.5, 0], [1, 1]]
VALUE = [[1, -1], [0.5, 1]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def project(matrix, token):
    return [dot(row, token) for row in matrix]


def attend(query, keys, values):
    scale = math.sqrt(len(query))
    scores = [dot(query, key) / scale for key in keys]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    return [dot(weights, column) / total for column in zip(*values)]


def without_cache(tokens):
    answers, positions = [], 0
    for n in range(1, len(tokens) + 1):
        # «again»
        keys = [project(KEY, token) for token in tokens[:n]]
        values = [project(VALUE, token) for token in tokens[:n]]
        positions += n
        answers.append(attend(project(QUERY, tokens[n - 1]), keys, values))
    return answers, positions


def with_cache(tokens):
    keys, values, answers, positions = [], [], [], 0
    for token in tokens:
        # «once»
        keys.append(project(KEY, token))
        values.append(project(VALUE, token))
        positions += 1
        answers.append(attend(project(QUERY, token), keys, values))
    return answers, positions


def kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    a_layer = 2 * n_kv_head * head_dim * bytes_per_element
    return n_layer * a_layer * n_tokens * batch_size


whole, cached = without_cache(TOKENS), with_cache(TOKENS)
print("«equal»", whole[0] == cached[0])
print("«positions»", whole[1], cached[1])
print("«one-token»", f"{kv_bytes(32, 8, 128, 1, 1, 2):,}")
print("«one-text»", kv_bytes(32, 8, 128, 4096, 1, 2) // 2**20, "MiB")
print("«eight-texts»", kv_bytes(32, 8, 128, 4096, 8, 2) // 2**30, "GiB")
counts = {"«counted»": [whole[1], cached[1]]}
bars(["«without»", "«with»"], counts, "«title»")

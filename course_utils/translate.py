"""Our sampling settings in the words of other libraries: transformers, vLLM and llama.cpp.

Each function gives a dict of plain values that means the same there: the same tokens are kept, with the same
probabilities. What a library cannot say is a ValueError, never a silent change. Not translated: ties at the border of a
filter, which each library breaks in another way, and the seed, since each has its own random numbers.
None of the libraries is imported.
"""

from course_utils.sampling import SamplingParams


def to_transformers(params: SamplingParams) -> dict:
    """Keyword arguments for `model.generate` of transformers.

    Every setting is said, since what is left out gets a default: top_k would be 50.
    Raises ValueError if steps that are on stand in an order other than temperature, top-k, top-p, min-p.

    >>> to_transformers(SamplingParams(0.7, top_p=0.9))
    {'do_sample': True, 'temperature': 0.7, 'top_k': 0, 'top_p': 0.9, 'min_p': 0.0}
    """
    if params.greedy:
        return {"do_sample": False}
    _refuse_another_order(params, "transformers")
    return {"do_sample": True, **_numbers(params)}


def to_vllm(params: SamplingParams) -> dict:
    """Keyword arguments for vLLM's SamplingParams, or fields of a request to its server.

    Raises ValueError if steps that are on stand in an order other than temperature, min-p, top-k, top-p; for a
    temperature above 2, which vLLM refuses, or below 0.01, which it changes; and for top_p = 0, which it refuses.
    """
    if params.greedy:
        return {"temperature": 0.0}
    _refuse_another_order(params, "vllm")
    if not 0.01 <= params.temperature <= 2:
        raise ValueError(f"temperature is {params.temperature}; vLLM takes 0.01 to 2, or 0 for greedy.")
    if params.top_p == 0:
        raise ValueError("top_p is 0, which vLLM refuses. To keep the likeliest token only use top_k=1 or greedy=True.")
    return _numbers(params)


def to_llama_cpp(params: SamplingParams) -> dict:
    """Fields of a request to llama.cpp's server. Its `samplers` take any order."""
    if params.greedy:
        return {"samplers": ["temperature"], "temperature": 0.0}
    return {"samplers": list(params.order), **_numbers(params)}


def steps_on(params: SamplingParams) -> tuple[str, ...]:
    """The steps that can change something, in their order: not those at None, 0 or 1 that keep everything as it is."""
    return tuple(step for step, _ in params.steps)


def _numbers(params: SamplingParams) -> dict:
    """All four settings, in numbers that all three libraries read alike: 0, 1 and 0 switch the filters off."""
    return {
        "temperature": params.temperature,
        "top_k": params.top_k or 0,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "min_p": params.min_p or 0.0,
    }


def _refuse_another_order(params: SamplingParams, library: str) -> None:
    """A library applies the steps in its own order; it is the same as ours if it agrees on the steps that are on."""
    theirs = SamplingParams.like(library).order
    if (ours := steps_on(params)) != tuple(step for step in theirs if step in ours):
        raise ValueError(
            f"The order is {' > '.join(ours)}; {library} applies {' > '.join(theirs)} and knows no other. Change "
            f"params.order, switch a step off, or filter the logits yourself."
        )

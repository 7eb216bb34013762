"""The Python of the page: a visitor's code is run, its functions are checked, its numbers become pictures.

    philox     the uniform numbers of `course_utils.randomness`, in plain Python
    tales      the corpus of the bigram as one string
    charts     bars that the page draws
    checks     when an answer of a visitor's function passes a case
    distributions, counting, attention   the cases, by the hint ids of the notebooks
    runner     runs the visitor's code and describes its errors
    pieces     the four pieces: which functions are checked, and what a guess is compared with

In the browser this package runs in a worker, where only Python's standard library is installed. So it imports nothing
else, and does not import torch or NumPy. It shows nothing itself: it sends messages, and the page has the words.
"""

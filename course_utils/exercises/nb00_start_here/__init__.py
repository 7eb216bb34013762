"""The exercise of notebook 00. Its answer is easy: what it teaches is how the checker speaks."""

EXERCISES = ("first_answer",)

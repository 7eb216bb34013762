"""The prompts after which engines are compared."""

from course_utils import text

TALE = "Once upon a time there was a fox. "
OPEN = ("12", "Q: 7", "In the ", "Bess ", "At the market ", "A ", "One ", "1", "Mo")  # after these much is possible


def prompts() -> list[str]:
    """Thirty beginnings of unseen documents of all three kinds, and some that are short or odd."""
    tales, sums, calls = (text.load_documents(kind, "validation") for kind in text.SHIPPED)
    begun = [tale[: 7 + 11 * number] for number, tale in enumerate(tales[:18])]
    begun += [one.partition("=")[0] + "=" for one in sums[:3]] + [
        one.partition("<call>")[0] + "<call>" for one in calls[:3]
    ]
    return [*begun, TALE, "", " a", "\n\n", "zzz", "The"]

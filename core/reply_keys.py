"""How keys of stored model replies begin, so that what a piece of feedback spent can be summed."""


def matching_prefix(feedback_id: str) -> str:
    """The beginning of the keys under which the matcher's replies on a piece are stored."""
    return f"match:{feedback_id}:"

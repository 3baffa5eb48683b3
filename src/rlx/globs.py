"""The walk by which globs are matched, whatever their parts are: in steps of pattern times path at most."""

from collections.abc import Callable, Sequence


def walk[P, T](
    pattern: Sequence[P], items: Sequence[T], is_star: Callable[[P], bool], fits: Callable[[P, T], bool]
) -> bool:
    """Whether a pattern matches all of `items`; a star stands for any number of them.

    Greedy, with one step back to the last star, so that no pattern takes more than pattern x items steps.
    """
    at = here = 0
    back = resume = -1
    while here < len(items):
        if at < len(pattern) and is_star(pattern[at]):
            back, resume = at, here
            at += 1
        elif at < len(pattern) and fits(pattern[at], items[here]):
            at += 1
            here += 1
        elif back >= 0:
            resume += 1
            at, here = back + 1, resume
        else:
            return False
    return all(is_star(part) for part in pattern[at:])

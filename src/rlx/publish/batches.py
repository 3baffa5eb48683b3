"""What is sent or packed together: in order, up to so many and so many bytes."""

from collections.abc import Iterable, Iterator


def batches(sized: Iterable[tuple[str, int]], *, most: int, most_bytes: int) -> Iterator[list[str]]:
    """Names by batch, each of at most `most`; one larger than `most_bytes` stands alone."""
    batch: list[str] = []
    held = 0
    for name, size in sized:
        if batch and (len(batch) >= most or held + size > most_bytes):
            yield batch
            batch, held = [], 0
        batch.append(name)
        held += size
    if batch:
        yield batch

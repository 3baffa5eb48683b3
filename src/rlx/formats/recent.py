"""Files that were shown last: a long one is asked for page after page, a film part after part."""

from collections import OrderedDict

from rlx.model.files import Blob


class Recent:
    """Holds up to `limit` bytes of files; the least recently asked for goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._blobs: OrderedDict[tuple[str, ...], Blob] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> Blob | None:
        if key in self._blobs:
            self._blobs.move_to_end(key)
        return self._blobs.get(key)

    def keep(self, key: tuple[str, ...], blob: Blob) -> None:
        if _weight(blob) > self._limit or key in self._blobs:
            return
        self._blobs[key] = blob
        self._held += _weight(blob)
        while self._held > self._limit:
            self._held -= _weight(self._blobs.popitem(last=False)[1])


def _weight(blob: Blob) -> int:
    """Bytes a file takes, about: Python keeps a text in one, two or four bytes a character."""
    return 1000 + 2 * (len(blob.text or "") + len(blob.inside or "")) + len(blob.data or b"")

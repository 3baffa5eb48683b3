"""A cache bounded by what it holds, shared by the threads that render."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import Lock


def digest(text: str) -> str:
    """Names a text by its contents."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Bounded[V]:
    """Least recently used values are dropped once their sizes pass `limit`; larger ones are not kept at all."""

    def __init__(self, limit: int, size: Callable[[V], int]) -> None:
        self._limit = limit
        self._size = size
        self._items: OrderedDict[Hashable, V] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of `key`, made when it is absent. Two threads may make the same one; both are equal."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        made = make()
        size = self._size(made)
        if size > self._limit:
            return made
        with self._lock:
            if key not in self._items:
                self._items[key] = made
                self._held += size
            while self._held > self._limit:
                _, dropped = self._items.popitem(last=False)
                self._held -= self._size(dropped)
        return made

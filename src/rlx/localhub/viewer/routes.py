"""The viewer's routes, with its own errors."""

import io
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress

import anyio

from rlx.localhub.access import Visitor, require_files
from rlx.localhub.files import Changed, open_file
from rlx.localhub.repo import Repo
from rlx.localhub.shelf import Shelf
from rlx.localhub.snapshot import Snapshot
from rlx.localhub.viewer.bodies import PAGE, Opened, first_rows, info, parquet_files, rows, sizes, valid
from rlx.localhub.viewer.layout import NoData, Split, layout
from rlx.localhub.viewer.opening import open_table
from rlx.localhub.viewer.scanning import filtered, searched
from rlx.localhub.viewer.statistics import column_statistics
from rlx.localhub.viewer.tables import Opener, Table, TooBig, Unreadable
from rlx.localhub.viewer.where import Invalid
from rlx.localhub.wire import Answer, Refusal, Request, json_answer, json_bytes, raw_json

_KEPT_BYTES = 256 * 1024 * 1024
"""Tables kept in memory."""
_ATTEMPTS = 3
_ABSENT = (
    "The dataset does not exist, or is not accessible {} (private or gated). "
    "Please check the spelling of the dataset name or retry with {}."
)


class ViewerRefusal(Refusal):
    """An error in the viewer's shape, with its cause when there is one."""

    def __init__(self, status: int, code: str, message: str, cause: Exception | None = None) -> None:
        super().__init__(status, code, message)
        self.cause = cause

    def answer(self) -> Answer:
        told: dict[str, object] = {"error": self.message}
        if self.cause is not None:
            told |= {"cause_exception": type(self.cause).__name__, "cause_message": str(self.cause)}
        return json_answer(told, headers=[(b"x-error-code", self.code.encode())], status=self.status)


class Viewer:
    """Answers `/viewer/<route>`. Tables are kept by the hash of their file, so a changed file is read anew."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    async def answer(self, route: str, request: Request, visitor: Visitor) -> Answer:
        repo = await self._repo(request, visitor)
        for _ in range(_ATTEMPTS):
            at = repo.head
            try:
                told = await anyio.to_thread.run_sync(self._told, route, request, repo, at)
            except Changed:
                await self._shelf.look(repo, force=True)
            else:
                return raw_json(told, headers=[(b"x-revision", at.sha.encode())])
        raise ViewerRefusal(500, "ResponseNotReady", "The files keep changing on disk.")

    async def _repo(self, request: Request, visitor: Visitor) -> Repo:
        name = _required(request, "dataset")
        try:
            repo = await self._shelf.repo("datasets", name, visitor)
            require_files(visitor, repo)
        except Refusal as refusal:
            if visitor.user is None:
                text = _ABSENT.format("without authentication", "authentication")
                raise ViewerRefusal(401, "ExternalUnauthenticatedError", text) from refusal
            text = _ABSENT.format("with the current credentials", "other authentication credentials")
            raise ViewerRefusal(404, "ExternalAuthenticatedError", text) from refusal
        return repo

    def _told(self, route: str, request: Request, repo: Repo, at: Snapshot) -> bytes:
        if at.card.data.get("viewer") is False:
            raise ViewerRefusal(404, "DisabledViewerError", "The dataset viewer is disabled.")
        try:
            return json_bytes(self._route(route, request, repo, at))
        except NoData as error:
            text = "Cannot get the config names for the dataset."
            raise ViewerRefusal(500, "ConfigNamesError", text, error) from error
        except Invalid as error:
            raise ViewerRefusal(422, "InvalidParameter", str(error)) from error
        except TooBig as error:
            raise ViewerRefusal(501, "TooBigContentError", str(error)) from error
        except (Unreadable, RecursionError) as error:
            raise ViewerRefusal(500, "StreamingRowsError", "Cannot load the dataset split.", error) from error

    def _route(self, route: str, request: Request, repo: Repo, at: Snapshot) -> object:
        splits = [split for config in layout(at.card, list(at.files)).values() for split in config]
        match route:
            case "is-valid":
                return valid(list(self._readable(repo, at, _chosen(request, splits))))
            case "splits":
                told = [
                    {"dataset": repo.id, "config": split.config, "split": split.name}
                    for split in _chosen(request, splits)
                ]
                return {"splits": told, "pending": [], "failed": []}
            case "rows":
                offset, length = _page(request)
                return rows(self._opened(repo, at, _one(request, splits)), offset, length)
            case "search":
                split, query, (offset, length) = _one(request, splits), _required(request, "query"), _page(request)
                return searched(self._opened(repo, at, split), query, offset, length)
            case "filter":
                split, where, (offset, length) = _one(request, splits), _required(request, "where"), _page(request)
                opened_split = self._opened(repo, at, split)
                return filtered(opened_split, where, request.param("orderby"), offset, length)
            case "statistics":
                return column_statistics(self._opened(repo, at, _one(request, splits)))
            case "first-rows":
                return first_rows(self._opened(repo, at, _one(request, splits)))
            case "size":
                opened = [self._opened(repo, at, split) for split in _chosen(request, splits)]
                return sizes(opened, whole=request.param("config") is None)
            case "info":
                opened = [self._opened(repo, at, split) for split in _chosen(request, splits)]
                return info(opened, whole=request.param("config") is None)
            case "parquet":
                return parquet_files(repo, at, _chosen(request, splits), request.base_url)
        raise ViewerRefusal(404, "ResponseNotFound", "Not found.")

    def _readable(self, repo: Repo, at: Snapshot, splits: list[Split]) -> Iterator[Opened]:
        for split in splits:
            with suppress(Unreadable):
                yield self._opened(repo, at, split)

    def _opened(self, repo: Repo, at: Snapshot, split: Split) -> Opened:
        return Opened(repo, at, split, [self._table(repo, at, path, split) for path in split.paths])

    def _table(self, repo: Repo, at: Snapshot, path: str, split: Split) -> tuple[Opener, Table]:
        file = at.files[path]

        def opener() -> io.BufferedReader:
            return io.BufferedReader(open_file(repo.place(file), file))

        suffixes = path.rpartition("/")[2].partition(".")[2].lower()
        name = f"{file.oid} {suffixes} {sorted(split.options.items(), key=str)}"
        table = self._tables.get(name)
        if table is None:
            table = open_table(path, opener, split.options)
            with self._lock:
                self._tables[name] = table
                while len(self._tables) > 1 and sum(kept.weight for kept in self._tables.values()) > _KEPT_BYTES:
                    self._tables.popitem(last=False)
        return opener, table


def _required(request: Request, name: str) -> str:
    value = request.param(name)
    if not value:
        raise ViewerRefusal(422, "MissingRequiredParameter", f"Parameter '{name}' is required")
    return value


def _number(request: Request, name: str, default: int) -> int:
    text = request.param(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ViewerRefusal(422, "InvalidParameter", f"Parameter '{name}' must be a positive integer")
    return int(text)


def _page(request: Request) -> tuple[int, int]:
    """Offset and length."""
    offset, length = _number(request, "offset", 0), _number(request, "length", PAGE)
    if length > PAGE:
        raise ViewerRefusal(422, "InvalidParameter", f"Parameter 'length' must not be greater than {PAGE}")
    return offset, length


def _chosen(request: Request, splits: list[Split]) -> list[Split]:
    """Splits of the config and split asked for, of all when none was."""
    config, name = request.param("config"), request.param("split")
    found = [split for split in splits if config in {None, split.config} and name in {None, split.name}]
    if not found:
        raise ViewerRefusal(404, "ResponseNotFound", "Not found.")
    return found


def _one(request: Request, splits: list[Split]) -> Split:
    _required(request, "config")
    _required(request, "split")
    return _chosen(request, splits)[0]

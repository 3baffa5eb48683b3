"""Every URL of the site, built in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from rlx.ids import EnvKey, encode_ref
from rlx.model import EnvQuery, TaskQuery
from rlx.web.facets import format_filters

_NO_QUERY = EnvQuery()
_NO_TASK_QUERY = TaskQuery()


@dataclass(frozen=True, slots=True)
class Links:
    build: str
    """Hash of the static files."""
    hub: str | None = None
    """Base of the Hub's own pages; None where there are none, as with a folder."""

    def static(self, name: str) -> str:
        return f"/static/{self.build}/{name}"

    def icon(self, name: str) -> str:
        return f"{self.static('icons.svg')}#{name}"

    def explore(self, query: EnvQuery = _NO_QUERY, *, trend: int = 1, **changes: Any) -> str:
        """The list of environments, from its first page unless `offset` says otherwise; `trend` pages the trending."""
        query = replace(query, **{"offset": 0, **changes})
        fields = {
            "q": query.text,
            "kind": query.kind,
            "f": format_filters(query.filters),
            "collection": query.collection,
            "sort": query.sort,
            "offset": query.offset,
            "limit": query.limit,
            "trend": trend,
        }
        default = {
            **dict.fromkeys(fields),
            "q": "",
            "f": "",
            "sort": _NO_QUERY.sort,
            "offset": 0,
            "limit": _NO_QUERY.limit,
            "trend": 1,
        }
        return _with("/", fields, default)

    def look(self, key: EnvKey) -> str:
        """An environment at a glance, as a fragment."""
        return _with("/", {"look": str(key)}, {})

    def env(self, key: EnvKey, query: TaskQuery = _NO_TASK_QUERY, **changes: Any) -> str:
        """An environment with its task list, from the first page unless `offset` says otherwise."""
        query = replace(query, **{"offset": 0, **changes})
        fields = {
            "q": query.text,
            "f": format_filters(query.filters),
            "subset": query.subset,
            "sort": query.sort,
            "offset": query.offset,
            "limit": query.limit,
        }
        default = {"q": "", "f": "", "subset": None, "sort": "order", "offset": 0, "limit": _NO_TASK_QUERY.limit}
        return _with(key.page, fields, default)

    def without(self, query: EnvQuery | TaskQuery, facet: str, value: str) -> Mapping[str, tuple[str, ...]]:
        """The filters of `query` without one value."""
        kept = {**query.filters, facet: tuple(item for item in query.filters.get(facet, ()) if item != value)}
        return {name: values for name, values in kept.items() if values}

    def card(self, key: EnvKey) -> str:
        return f"{key.page}/card"

    def task(self, key: EnvKey, ref: str) -> str:
        return key.task_page(ref)

    def rendered(self, key: EnvKey, ref: str) -> str:
        return f"{key.task_page(ref)}?view=rendered"

    def file(self, key: EnvKey, ref: str | None, path: str = "", *, start: int = 1, nowrap: bool = False) -> str:
        """A file or folder of a task, or of the whole repository when `ref` is None."""
        if ref is None:
            base, fields = f"{key.page}/files" + (f"/{encode_ref(path)}" if path else ""), {}
        else:
            base, fields = key.task_page(ref), {"path": path}
        extra = {"from": start, "wrap": "off" if nowrap else None}
        return _with(base, {**fields, **extra}, {"from": 1, "wrap": None})

    def raw(self, key: EnvKey, ref: str | None, path: str) -> str:
        return f"/raw{self.file(key, ref, path)}"

    def random(self) -> str:
        return "/random"

    def random_of(self, key: EnvKey) -> str:
        return f"{key.page}/random"

    def login(self, back: str) -> str:
        """The sign-in page, which returns to `back`."""
        return _with("/login", {"next": back}, {"next": "/"})

    def progress(self, key: EnvKey) -> str:
        return f"{key.api}/progress"

    def twin(self, url: str, form: str) -> str:
        """`url` in another form: json or md."""
        return f"{url}{'&' if '?' in url else '?'}format={form}"

    def choose(self, url: str, language: str) -> str:
        """`url` in another language, which is kept."""
        return f"{url}{'&' if '?' in url else '?'}lang={language}"

    def on_hub(self, path: str) -> str | None:
        return f"{self.hub}{quote(path, safe='/%~')}" if self.hub else None

    def hub_repo(self, key: EnvKey) -> str | None:
        return self.on_hub(f"/{key.kind}s/{key.repo_id}")


def _with(base: str, fields: Mapping[str, object], default: Mapping[str, object]) -> str:
    """`base` with the fields that differ from their default."""
    told = {name: value for name, value in fields.items() if name not in default or value != default[name]}
    return f"{base}?{urlencode(told, quote_via=quote, safe='')}" if told else base

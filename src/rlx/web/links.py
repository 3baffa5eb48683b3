"""Every URL of the site, built in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from rlx.ids import EnvKey, encode_ref
from rlx.model import EnvQuery, TaskQuery, TaskSearch
from rlx.twins.run_list import RunQuery
from rlx.web import images
from rlx.web.facets import format_filters

_NO_QUERY = EnvQuery()
_NO_TASK_QUERY = TaskQuery()
_NO_TASK_SEARCH = TaskSearch()
_NO_RUN_QUERY = RunQuery()
_NOTHING: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Links:
    build: str
    """Hash of the static files."""
    hub: str | None = None
    """Base of the Hub's own pages; None where there are none, as with a folder."""
    image_key: bytes = field(default=b"", repr=False)
    """Signs the addresses of images that documents here show."""

    revision: str | None = None
    """What is read: links within an environment keep it. None is the newest."""
    roles: str = ""
    """What columns are taken for, as the reader corrected it (`rlx.web.facets`): kept likewise."""

    def at(self, revision: str | None) -> "Links":
        """The same links at another revision."""
        return self if revision == self.revision else replace(self, revision=revision)

    def taking(self, roles: Mapping[str, str]) -> "Links":
        """The same links with columns in these roles."""
        told = format_filters({role: (column,) for role, column in roles.items()})
        return self if told == self.roles else replace(self, roles=told)

    @property
    def away(self) -> "Links":
        """Links to other environments, which have revisions and columns of their own."""
        return self.at(None).taking({})

    def static(self, name: str) -> str:
        return f"/static/{self.build}/{name}"

    def icon(self, name: str) -> str:
        """A symbol of the sprite, which every page carries."""
        return f"#icon-{name}"

    def explore(self, query: EnvQuery = _NO_QUERY, *, trend: int = 1, **changes: Any) -> str:
        """The list of environments, from its first page unless `offset` says otherwise; `trend` pages the trending."""
        query = replace(query, **{"offset": 0, **changes})
        fields = {
            "q": query.text,
            "kind": query.kind,
            "f": format_filters(query.filters),
            "collection": query.collection,
            "mine": "1" if query.mine else None,
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

    def tasks(self, search: TaskSearch = _NO_TASK_SEARCH, **changes: Any) -> str:
        """The tasks of every environment, from the first page unless `offset` says otherwise."""
        search = replace(search, **{"offset": 0, **changes})
        fields = {
            "q": search.text,
            "env": "" if search.environment is None else str(search.environment),
            "f": format_filters(search.filters),
            "offset": search.offset,
            "limit": search.limit,
        }
        return _with("/tasks", fields, {"q": "", "env": "", "f": "", "offset": 0, "limit": _NO_TASK_SEARCH.limit})

    def compare(self, keys: Sequence[EnvKey], *, differ: bool = False) -> str:
        """Environments side by side; only what differs of them."""
        fields = [("env", str(key)) for key in keys] + ([("rows", "differ")] if differ else [])
        return f"/envs?{urlencode(fields)}" if fields else "/envs"

    def env(self, key: EnvKey, query: TaskQuery = _NO_TASK_QUERY, **changes: Any) -> str:
        """An environment with its task list, from the first page unless `offset` says otherwise."""
        return _with(key.page, self._env_fields(replace(query, **{"offset": 0, **changes})), {})

    def env_fields(self, query: TaskQuery) -> Mapping[str, str]:
        """What a form sends to keep `query`, but for its place in the list."""
        return {name: str(value) for name, value in self._env_fields(replace(query, offset=0)).items()}

    def _env_fields(self, query: TaskQuery) -> Mapping[str, object]:
        fields = {
            "q": query.text,
            "f": format_filters(query.filters),
            "subset": query.subset,
            "sort": query.sort,
            "offset": query.offset,
            "limit": query.limit,
            "revision": self.revision,
            "roles": self.roles,
        }
        default = {"roles": "", "q": "", "f": "", "sort": "order", "offset": 0, "limit": _NO_TASK_QUERY.limit}
        return {name: value for name, value in fields.items() if value != default.get(name)}

    def without(
        self, query: EnvQuery | TaskQuery | TaskSearch, facet: str, value: str
    ) -> Mapping[str, tuple[str, ...]]:
        """The filters of `query` without one value."""
        kept = {**query.filters, facet: tuple(item for item in query.filters.get(facet, ()) if item != value)}
        return {name: values for name, values in kept.items() if values}

    def card(self, key: EnvKey) -> str:
        return self._at(f"{key.page}/card")

    def revisions(self, key: EnvKey, old: str | None = None, new: str | None = None, task: str | None = None) -> str:
        """The commits of an environment; what became of its tasks between two; of one task's files."""
        return _with(
            f"{key.page}/revisions", {"old": old, "new": new, "task": task}, dict.fromkeys(("old", "new", "task"))
        )

    def task(self, key: EnvKey, ref: str) -> str:
        return self._at(key.task_page(ref))

    def use(self, key: EnvKey, **choices: str) -> str:
        """How an environment is used: by `framework` and `config`, for a `task`, with a `model` in a `sandbox`."""
        return self._at(f"{key.page}/use", choices, {**dict.fromkeys(choices, ""), "sandbox": "docker"})

    def tags(self, key: EnvKey) -> str:
        """The tags that a card lacks."""
        return f"{key.page}/tags"

    def report(self, key: EnvKey, ref: str, message: str = "") -> str:
        """What would be said of a broken task."""
        return _with(f"{key.page}/report", {"task": ref, "message": message}, {"message": ""})

    def pair(self, key: EnvKey, one: str, other: str | None = None) -> str:
        """Two tasks of an environment side by side; without the other, the choice of one."""
        return self._at(f"{key.page}/pair", {"a": one, "b": other}, {"b": None})

    def rendered(self, key: EnvKey, ref: str) -> str:
        return self._at(key.task_page(ref), {"view": "rendered"}, {})

    def file(
        self,
        key: EnvKey,
        ref: str | None,
        path: str = "",
        *,
        start: int = 1,
        view: str | None = None,
        nowrap: bool = False,
        full: bool = False,
    ) -> str:
        """A file or folder of a task, or of the whole repository when `ref` is None.

        `start` is the first line, row or entry, `view` one of `rlx.web.views`, `full` leaves the side column out.
        """
        if ref is None:
            base, fields = f"{key.page}/files" + (f"/{encode_ref(path)}" if path else ""), {}
        else:
            base, fields = key.task_page(ref), {"path": path}
        extra = {"view": view, "from": start, "wrap": "off" if nowrap else None, "full": "1" if full else None}
        return self._at(base, {**fields, **extra}, {"from": 1, **dict.fromkeys(("view", "wrap", "full"))})

    def raw(self, key: EnvKey, ref: str | None, path: str) -> str:
        return f"/raw{self.file(key, ref, path)}"

    def image(self, url: str) -> str:
        """A picture of another site, through us."""
        return _with("/-/image", {"u": url, "s": images.signature(url, self.image_key)}, {})

    def is_image(self, url: str, signature: str) -> bool:
        """Whether `image` made a link to `url`."""
        return images.is_signed(url, signature, self.image_key)

    def runs(self, query: RunQuery = _NO_RUN_QUERY, **changes: Any) -> str:
        """A list of rollouts, from its first page unless `offset` says otherwise."""
        return _with("/runs", run_fields(replace(query, **{"offset": 0, **changes})), {})

    def run(self, id: str, *, before: int | None = None) -> str:
        """A rollout, as it is or with what was said before the event of a number."""
        return _with(f"/run/{quote(id, safe='')}", {"before": before}, {"before": None})

    def seat(self, id: str) -> str:
        """Where a person works in an agent's place."""
        return f"{self.run(id)}/seat"

    def run_file(self, id: str, path: str, *, start: int = 1, view: str | None = None, nowrap: bool = False) -> str:
        """A file that a rollout kept."""
        fields = {"path": path, "view": view, "from": start, "wrap": "off" if nowrap else None}
        return _with(self.run(id), fields, {"from": 1, "view": None, "wrap": None})

    def run_raw(self, id: str, path: str) -> str:
        return f"/api/runs/{quote(id, safe='')}/artifacts/{quote(path, safe='/')}"

    def export(self, query: RunQuery = _NO_RUN_QUERY, *, form: str) -> str:
        """The rollouts of a list as a file of rows."""
        told = {name: value for name, value in run_fields(query).items() if name not in {"offset", "limit"}}
        return _with("/api/runs/export", {**told, "as": form}, {})

    def random(self) -> str:
        return "/random"

    def random_of(self, key: EnvKey) -> str:
        return self._at(f"{key.page}/random")

    def login(self, back: str) -> str:
        """The sign-in page, which returns to `back`."""
        return _with("/login", {"next": back}, {"next": "/"})

    def progress(self, key: EnvKey) -> str:
        return self._at(f"{key.page}/progress")

    def twin(self, url: str, form: str) -> str:
        """`url` in another form: json or md."""
        return f"{url}{'&' if '?' in url else '?'}format={form}"

    def choose(self, url: str, language: str) -> str:
        """`url` in another language, which is kept."""
        return f"{url}{'&' if '?' in url else '?'}lang={language}"

    def on_hub(self, path: str) -> str | None:
        return f"{self.hub}{quote(path, safe='/%~')}" if self.hub else None

    def hub_file(self, key: EnvKey, path: str) -> str | None:
        return self.on_hub(f"/{key.kind}s/{key.repo_id}/blob/main/{path}")

    def hub_repo(self, key: EnvKey) -> str | None:
        return self.on_hub(f"/{key.kind}s/{key.repo_id}")

    def _at(self, base: str, fields: Mapping[str, object] = _NOTHING, default: Mapping[str, object] = _NOTHING) -> str:
        """`base` with the fields that differ from their default, the revision and the roles of columns."""
        kept = {"revision": self.revision, "roles": self.roles}
        return _with(base, {**fields, **kept}, {**default, "revision": None, "roles": ""})


@dataclass(frozen=True, slots=True)
class RunLinks(Links):
    """Links of a page that shows a file of a rollout: its files are that rollout's."""

    run_id: str = ""

    def file(
        self,
        key: EnvKey,
        ref: str | None,
        path: str = "",
        *,
        start: int = 1,
        view: str | None = None,
        nowrap: bool = False,
        full: bool = False,
    ) -> str:
        return self.run_file(self.run_id, path, start=start, view=view, nowrap=nowrap)

    def raw(self, key: EnvKey, ref: str | None, path: str) -> str:
        return self.run_raw(self.run_id, path)


def run_fields(query: RunQuery) -> Mapping[str, object]:
    """What tells a list of rollouts, but for what it is without being told."""
    fields = {
        "f": format_filters(query.filters),
        "ref": query.ref,
        "mine": "1" if query.mine else None,
        "outcome": query.outcome,
        "sort": query.sort,
        "offset": query.offset,
        "limit": query.limit,
    }
    usual = {"f": "", "ref": None, "mine": None, "outcome": "", "sort": "new", "offset": 0, "limit": 50}
    return {name: value for name, value in fields.items() if value != usual[name]}


def _with(base: str, fields: Mapping[str, object], default: Mapping[str, object]) -> str:
    """`base` with the fields that differ from their default."""
    told = {name: value for name, value in fields.items() if name not in default or value != default[name]}
    return f"{base}?{urlencode(told, quote_via=quote, safe='', errors='replace')}" if told else base

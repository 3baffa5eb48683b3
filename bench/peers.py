"""The same tasks in tantivy and in DuckDB, asked the same: how many, and the first 24 with title and brief.

Words are whole words there, where the catalog takes each for the beginning of one; and no facets are counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb
import duckdb_extension_fts
import pyarrow
import tantivy

from bench.synthetic import Ask
from rlx.ids import EnvKey
from rlx.index.snapshot.rows import Content, TaskRow

PAGE = 24
FILTERED = ("difficulty", "language", "graded", "sandbox")
HEAP = 512 * 1024 * 1024
"""Bytes tantivy gathers before it writes a segment."""


def rows(content: Content) -> Iterator[tuple[EnvKey, TaskRow]]:
    return ((key, row) for key, of in content.tasks.items() for row in of)


def searched(row: TaskRow) -> str:
    return f"{row.title} {row.ref} {row.brief} {' '.join(row.facets.get('category', ()))} {row.words}"


class Tantivy:
    """Ranked by BM25, as it comes."""

    name = "tantivy"

    def __init__(self, path: Path, content: Content) -> None:
        path.mkdir()
        builder = tantivy.SchemaBuilder()
        for field in ("ref", "title", "brief"):
            builder.add_text_field(field, stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("words", index_option="freq")
        for key in FILTERED:
            builder.add_text_field(key, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        index = tantivy.Index(self._schema, path=str(path))
        writer = index.writer(HEAP, num_threads=2)
        for _, row in rows(content):
            document = tantivy.Document(ref=[row.ref], title=[row.title], brief=[row.brief], words=[searched(row)])
            for key in FILTERED:
                for value in row.facets.get(key, ()):
                    document.add_text(key, value)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

    def ask(self, asked: Ask, *, prefix: bool) -> int:
        """How many there are; the page is read."""
        parts = [self._word(word, prefix) for word in asked.text.split()]
        parts += [
            tantivy.Query.boolean_query([(tantivy.Occur.Should, self._term(key, value)) for value in values])
            for key, values in asked.filters.items()
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in parts])
        found = self._searcher.search(query, limit=PAGE, count=True)
        for _, address in found.hits:
            document = self._searcher.doc(address)
            assert document["title"]
            assert document["brief"]
        return int(found.count)

    def _word(self, word: str, prefix: bool) -> "tantivy.Query":
        return tantivy.Query.regex_query(self._schema, "words", f"{word}.*") if prefix else self._term("words", word)

    def _term(self, field: str, value: str) -> "tantivy.Query":
        return tantivy.Query.term_query(
            self._schema, field, value, index_option="freq" if field == "words" else "basic"
        )


class DuckDB:
    """Without its search extension a column is looked through, in the order of popularity; with it, ranked by BM25."""

    def __init__(self, path: Path, content: Content, *, fts: bool) -> None:
        self.name = "DuckDB with fts" if fts else "DuckDB scan"
        self._fts = fts
        self._db = duckdb.connect(str(path))
        self._db.execute("SET threads = 2")
        self._db.register("made", table(rows(content)))
        self._db.execute("CREATE TABLE tasks AS SELECT * FROM made")
        self._db.unregister("made")
        if fts:
            folder = Path(duckdb_extension_fts.__file__).parent / "extensions"
            self._db.load_extension(str(next(folder.glob("*/fts.duckdb_extension"))))
            self._db.execute(
                "PRAGMA create_fts_index('tasks', 'id', 'words', stemmer = 'none', stopwords = 'none', "
                "ignore = '[^a-z0-9]+', strip_accents = 0, lower = 0)"
            )

    def ask(self, asked: Ask, *, prefix: bool) -> int:
        words: Sequence[str] = asked.text.split()
        where = [f"list_has_any({key}, ?)" for key in asked.filters]
        values: list[object] = [list(values) for values in asked.filters.values()]
        if self._fts and words and not prefix:
            score = "fts_main_tasks.match_bm25(id, ?, conjunctive := 1)"
            where.insert(0, "score IS NOT NULL")
            sql = f"SELECT *, {score} AS score FROM tasks"
            sql = f"SELECT id, title, brief, count(*) OVER () FROM ({sql}) WHERE {' AND '.join(where)}"
            found = self._db.execute(f"{sql} ORDER BY score DESC LIMIT {PAGE}", [asked.text, *values]).fetchall()
        else:
            where = ["contains(words, ?)" for _ in words] + where
            sql = f"SELECT id, title, brief, count(*) OVER () FROM tasks WHERE {' AND '.join(where)}"
            found = self._db.execute(
                f"{sql} ORDER BY id LIMIT {PAGE}", [*(f" {word}" for word in words), *values]
            ).fetchall()
        return int(found[0][3]) if found else 0


def table(of: Iterable[tuple[EnvKey, TaskRow]]) -> pyarrow.Table:
    tasks = [row for _, row in of]
    columns: dict[str, list[object]] = {
        "id": list(range(len(tasks))),
        "title": [row.title for row in tasks],
        "brief": [row.brief for row in tasks],
        "words": [f" {searched(row).lower()}" for row in tasks],
    }
    columns |= {key: [list(row.facets.get(key, ())) for row in tasks] for key in FILTERED}
    strings = pyarrow.string()
    kinds = {"id": pyarrow.int64()} | dict.fromkeys(("title", "brief", "words"), strings)
    kinds |= {key: pyarrow.list_(strings) for key in FILTERED}
    return pyarrow.table({name: pyarrow.array(values, kinds[name]) for name, values in columns.items()})

"""Which lexer reads a file: a short list by name, so that no lexer is chosen by hostile contents."""

from functools import cache
from pathlib import PurePosixPath

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String, _TokenType

_BY_NAME = {
    "dockerfile": "docker",
    "containerfile": "docker",
    "makefile": "make",
    "gnumakefile": "make",
    "cmakelists.txt": "cmake",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "justfile": "make",
}
_BY_SUFFIX = {
    ".bash": "bash",
    ".c": "c",
    ".cc": "cpp",
    ".cfg": "ini",
    ".clj": "clojure",
    ".conf": "ini",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".css": "css",
    ".dart": "dart",
    ".diff": "diff",
    ".ex": "elixir",
    ".exs": "elixir",
    ".f90": "fortran",
    ".go": "go",
    ".h": "c",
    ".hpp": "cpp",
    ".hs": "haskell",
    ".html": "html",
    ".ini": "ini",
    ".ipynb": "json",
    ".java": "java",
    ".jl": "julia",
    ".js": "javascript",
    ".json": "json",
    ".jsonl": "json",
    ".jsx": "javascript",
    ".kt": "kotlin",
    ".lua": "lua",
    ".md": "markdown",
    ".mjs": "javascript",
    ".ml": "ocaml",
    ".patch": "diff",
    ".php": "php",
    ".pl": "perl",
    ".proto": "protobuf",
    ".ps1": "powershell",
    ".py": "python",
    ".pyi": "python",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    ".scss": "scss",
    ".sh": "bash",
    ".sql": "sql",
    ".svg": "xml",
    ".swift": "swift",
    ".tf": "terraform",
    ".toml": "toml",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".vue": "html",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".zig": "zig",
}
_BY_WORD = {
    "console": "",
    "dockerfile": "docker",
    "js": "javascript",
    "py": "python",
    "python3": "python",
    "rust": "rust",
    "shell": "bash",
    "ts": "typescript",
    "yml": "yaml",
    "zsh": "bash",
}
_KNOWN = frozenset((*_BY_NAME.values(), *_BY_SUFFIX.values(), *_BY_WORD.values())) - {""}

_CLASSES: dict[_TokenType, str] = {
    Comment: "c",
    Comment.Preproc: "k",
    String: "s",
    Literal: "s",
    Number: "m",
    Keyword: "k",
    Keyword.Constant: "m",
    Name.Tag: "k",
    Name.Decorator: "k",
    Operator.Word: "k",
    Generic.Heading: "k",
    Generic.Subheading: "k",
    Generic.Inserted: "gi",
    Generic.Deleted: "gd",
}


def lexer_name(path: str | None, language: str | None = None) -> str | None:
    """The lexer for a language word, else for a file's name; None shows plain text."""
    word = (language or "").lower()
    if word:
        found = _BY_WORD.get(word, word)
        return found if found in _KNOWN else None
    name = PurePosixPath((path or "").lower())
    return _BY_NAME.get(name.name) or _BY_SUFFIX.get(name.suffix) or ("docker" if name.stem == "dockerfile" else None)


@cache
def lexer(name: str) -> Lexer:
    return get_lexer_by_name(name)


@cache
def token_class(kind: _TokenType) -> str:
    """One of the few classes the style sheet knows; empty for ordinary text."""
    for ancestor in reversed(kind.split()):
        if ancestor in _CLASSES:
            return _CLASSES[ancestor]
    return ""

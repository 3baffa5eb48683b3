"""Words of an instruction: quotes, escapes and variables, as BuildKit's shell lexer reads them."""

from collections.abc import Mapping

from rlx.sandboxes.dockerfile.refusals import Refused

_DEEPEST = 30
_LONGEST = 1 << 16
"""Characters of one value: `ENV A=$A$A` would double without end."""
_SPECIAL = "@*#?-$!0"


def expand(word: str, env: Mapping[str, str], escape: str = "\\", *, keep_unset: bool = False) -> str:
    """`word` with variables filled in and quotes and escapes taken away.

    `keep_unset` leaves variables that have neither a value nor a default as written. Raises `Refused`.
    """
    return _Lexer(word, env, escape, keep_unset=keep_unset).read()[0]


def expand_text(text: str, env: Mapping[str, str]) -> str:
    """A heredoc of COPY with variables filled in: quotes stay, a backslash is taken from what it stands before.

    Raises `Refused`.
    """
    return _Lexer(text, env, "\\", quoting=False).read()[0]


def split(line: str, *, quotes: bool = False, escapes: bool = False) -> list[str]:
    """Words of `line` as a shell parts them; variables stay as written, and quotes and escapes if told so.

    What opens a heredoc is one word with its name, blanks between them included. Raises `Refused`.
    """
    lexer = _Lexer(line, {}, "\\", keep_unset=True)
    lexer.defaults = False
    lexer.raw = quotes
    lexer.raw_escapes = escapes
    return lexer.read()[1]


class _Words:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.word: list[str] = []

    def add(self, text: str) -> None:
        for char in text:
            if not char.isspace():
                self.word.append(char)
            elif self.word:
                self.end()

    def end(self) -> list[str]:
        if word := "".join(self.word):
            self.done.append(word)
        self.word = []
        return self.done


class _Lexer:
    def __init__(
        self, text: str, env: Mapping[str, str], escape: str, *, keep_unset: bool = False, quoting: bool = True
    ) -> None:
        self.text = text
        self.env = env
        self.escape = escape
        self.keep_unset = keep_unset
        self.defaults = True
        """A default stands in for a variable that is kept otherwise."""
        self.raw = self.raw_escapes = False
        """Quotes, or escapes, stay."""
        self.quotes = "'\"" if quoting else ""
        self.at = 0
        self.depth = 0

    def read(self) -> tuple[str, list[str]]:
        return self._until("", self.raw_escapes)

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _next(self) -> str:
        char = self._peek()
        self.at += 1
        return char

    def _until(self, stop: str, raw_escapes: bool) -> tuple[str, list[str]]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Refused("unsupported", "word.deep")
        parts: list[str] = []
        words = _Words()
        size = 0
        while char := self._peek():
            if char == stop:
                self.at += 1
                self.depth -= 1
                return "".join(parts), words.end()
            if char == "$":
                part = self._dollar()
                words.add(part)
            elif char in self.quotes:
                part = self._single() if char == "'" else self._double(raw_escapes)
                words.word.append(part)
            elif self.text.startswith("<<", self.at):
                start = self.at
                self.at += 2
                while (blank := self._peek()) and blank in "\t\r ":
                    self.at += 1
                part = self.text[start : self.at]
                words.word.append(part)
            else:
                part = self._next()
                if part == self.escape:
                    escaped = self._next()
                    part = (part if raw_escapes else "") + escaped
                    words.word.append(part)
                else:
                    words.add(part)
            parts.append(part)
            size += len(part)
            if size > _LONGEST and self.env:
                raise Refused("unsupported", "word.long")
        if stop:
            raise Refused("syntax", "word.open", mark=stop)
        self.depth -= 1
        return "".join(parts), words.end()

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Refused("syntax", "word.open", mark="'")
        found = self.text[self.at : end + 1]
        self.at = end + 1
        return found if self.raw else found[1:-1]

    def _double(self, raw_escapes: bool) -> str:
        quote = self._next() if self.raw else self._next() and ""
        parts = [quote]
        while True:
            char = self._peek()
            if not char:
                raise Refused("syntax", "word.open", mark='"')
            if char == '"':
                self.at += 1
                return "".join((*parts, quote))
            if char == "$":
                parts.append(self._dollar())
                continue
            self.at += 1
            if char == self.escape:
                if raw_escapes:
                    parts.append(char)
                following = self._peek()
                if not following:
                    continue
                if following in ('"', "$", self.escape):
                    char = self._next()
                elif raw_escapes:
                    continue
            parts.append(char)

    def _dollar(self) -> str:
        start = self.at
        self.at += 1
        if self._peek() != "{":
            name = self._name()
            if not name:
                return "$"
            return self.text[start : self.at] if self.keep_unset and name not in self.env else self.env.get(name, "")
        self.at += 1
        if self._peek() in ("", "{", "}", ":"):
            raise Refused("syntax", "word.substitution", text=self.text[start:])
        name = self._name()
        operator = self._next()
        value = self.env.get(name)
        if operator == "}":
            return self.text[start : self.at] if self.keep_unset and value is None else value or ""
        empty_too = operator == ":"
        if empty_too:
            operator = self._next()
        if operator and operator in "#%/":
            raise Refused("unsupported", "word.operator", text=self.text[start : self.at])
        if not operator or operator not in "+-?":
            raise Refused("syntax", "word.substitution", text=self.text[start:])
        word, _ = self._until("}", False)
        if self.keep_unset and value is None and (operator == "?" or not self.defaults):
            return self.text[start : self.at]
        missing = value is None or (empty_too and not value)
        if operator == "?" and missing:
            raise Refused("syntax", "word.required", name=name)
        if operator == "+":
            return "" if missing else word
        return word if missing else value or ""

    def _name(self) -> str:
        start = self.at
        char = self._peek()
        if char.isdigit():
            while self._peek().isdigit():
                self.at += 1
        elif char and char in _SPECIAL:
            self.at += 1
        else:
            while (char := self._peek()) and (char.isalpha() or char.isdigit() or char == "_"):
                self.at += 1
        return self.text[start : self.at]

"""Python graders: the literals that are answers, found in the syntax tree.

Masked: what is assigned, passed, returned or looped under an answer's name, and what an assertion compares with. Kept:
empty and zero initialisers, True, False, None, paths, status codes, lengths, thresholds, names of columns. How it is
graded stays readable; what it is compared with does not.
"""

import ast
import io
import re
import threading
import tokenize
import warnings
from dataclasses import dataclass, field

from rlx.answers import keys
from rlx.answers.comments import tells
from rlx.answers.literals import (
    called,
    is_answer,
    is_harmless,
    is_input,
    is_literal,
    is_word_of_state,
    mentions,
    names_a_thing,
    texts,
)
from rlx.answers.spans import Mask, line_starts, occurrences, spread
from rlx.texts import say

LIMIT = 512 * 1024
"""Characters of source that are parsed."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z_]*")
_TRANSPARENT = keys.names(
    "str int float bytes sorted set frozenset list tuple dict array approx parse version Decimal Fraction Counter "
    "Version len abs round dedent loads Series DataFrame OrderedDict date datetime timedelta normalize lower encode"
)
"""Calls that give back what they are given, for our purpose."""
_STRUCTURAL = keys.names(
    "len status statuscode returncode exitcode exit code mode stat ndim shape dtype type name rc ret size port signal "
    "returnvalue endpos lineno version"
)
"""What is compared with a plain figure that is no answer: lengths, statuses, kinds."""
_SPOKEN = keys.names(
    "answer output stdout stderr result results response actual content contents got text prediction predicted guess "
    "submission submitted final reply report body written produced"
)
"""Names of what a solver wrote: a literal it is compared with is the answer."""
_ASSERTIONS = re.compile(
    r"(?i)assert_?\w*(?:equal|almost|close|in|regex|count|dict|list|is|true)\w*|isclose|allclose|array_equal|approx"
)
_ENDS = keys.names("startswith endswith")
_SEARCHES = keys.names("match search fullmatch findall")
_DEEDS = keys.names("test run check validate verify score compare grade evaluate parse extract collect install")
"""Functions that deal with answers and give back something else."""
_COMPUTES = keys.names(
    "findall search match fullmatch finditer sub split replace compile join strip get open Path execute run "
    "check_output strftime strptime glob read_text read_csv read_json"
)
"""Calls whose arguments say how an expected value is computed, not what it is."""
_REFERENCE_CODE = re.compile(
    r"(?:reference|golden?|oracle|canonical|correct|expected)_?(?:solution|solve|impl|implementation|answer|algorithm)"
    r"|(?:my_?)?solution|solve_reference"
)
_parsing = threading.Lock()


def mask_python(mask: Mask, start: int, end: int) -> bool:
    """Mask the answers of the Python source in `mask.text[start:end]`; False when it does not parse."""
    source = mask.text[start:end]
    if len(source) > LIMIT:
        return False
    tree = _parse(source)
    if tree is None:
        return False
    finder = _Finder(mask, source, start)
    try:
        finder.visit(tree)
    except RecursionError:
        return False
    spread(mask, finder.values, start, end, say("answers.literal"))
    _mask_comments(mask, source, start)
    return True


def _parse(source: str) -> ast.Module | None:
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _mask_comments(mask: Mask, source: str, start: int) -> None:
    starts = line_starts(source)
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            stretch = tells(token.string) if token.type == tokenize.COMMENT else None
            if stretch:
                at = start + starts[token.start[0] - 1] + token.start[1]
                mask.add(at + stretch[0], at + stretch[1], say("answers.comment"))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return


@dataclass(slots=True)
class _Finder(ast.NodeVisitor):
    mask: Mask
    source: str
    start: int
    starts: list[int] = field(init=False)
    lines: list[str] = field(init=False)
    values: set[str] = field(default_factory=set)
    """Texts that were masked."""
    looped: dict[str, int | None] = field(default_factory=dict)
    """Variables whose items are answers, or the position of the answer in each item."""

    def __post_init__(self) -> None:
        self.starts = line_starts(self.source)
        self.lines = self.source.split("\n")

    # Places

    def offset(self, line: int, column: int) -> int:
        """Position in the mask's text; the tree counts columns in UTF-8 bytes."""
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.start + self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self.offset(node.lineno, node.col_offset), end

    def hide(self, node: ast.expr) -> None:
        self.mask.add(*self.span(node), say("answers.literal"))
        self.values.update(texts(node))

    # Names that hold answers

    def visit_Module(self, node: ast.Module) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.For | ast.AsyncFor | ast.comprehension):
                self.loop(inner.target, inner.iter)
        self.generic_visit(node)

    def loop(self, target: ast.expr, source: ast.expr) -> None:
        """`for given, expected in cases`: the answers are the second of each item of `cases`."""
        if isinstance(source, ast.Call) and called(source) == "enumerate" and source.args:
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                self.loop(target.elts[1], source.args[0])
            return
        elements = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for at, element in enumerate(elements):
            if not (isinstance(element, ast.Name) and keys.is_answer_name(element.id)):
                continue
            if isinstance(source, ast.Call) and called(source) == "zip" and at < len(source.args):
                self.items(source.args[at], None)
            else:
                self.items(source, at if isinstance(target, ast.Tuple | ast.List) else None)

    def items(self, source: ast.expr, position: int | None) -> None:
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "items":
            source, position = source.func.value, 1
        if isinstance(source, ast.Name):
            self.looped[source.id] = position
        else:
            self.hide_items(source, position)

    def hide_items(self, source: ast.expr, position: int | None) -> None:
        if position is None:
            self.literals(source)
        elif isinstance(source, ast.Dict):
            for value in source.values:
                self.literals(value)
        elif isinstance(source, ast.List | ast.Tuple | ast.Set):
            for item in source.elts:
                if isinstance(item, ast.Call) and called(item) == "param" and position < len(item.args):
                    self.literals(item.args[position])
                elif isinstance(item, ast.Tuple | ast.List) and position < len(item.elts):
                    self.literals(item.elts[position])

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for inner, given in zip(target.elts, value.elts, strict=True):
                    self.bind(inner, given)
            elif any(is_answer(inner) for inner in target.elts):
                self.literals(value)
        elif is_answer(target):
            self.literals(value)
        elif isinstance(target, ast.Name) and target.id in self.looped:
            self.hide_items(value, self.looped[target.id])

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.bind(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.value, ast.Constant) or isinstance(node.value.value, str):
            self.bind(node.target, node.value)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.bind(node.target, node.value)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and keys.is_answer_name(key.value):
                self.literals(value)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg is not None and keys.is_answer_name(node.arg):
            self.literals(node.value)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.function(node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args]
        given = node.args.defaults
        pairs = [*zip(arguments[len(arguments) - len(given) :], given, strict=True)]
        pairs += [(one, it) for one, it in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if it]
        for argument, default in pairs:
            if keys.is_answer_name(argument.arg):
                self.literals(default)
        if _REFERENCE_CODE.fullmatch(node.name.lower().strip("_")):
            first, last = node.body[0], node.body[-1]
            self.mask.add(self.span(first)[0], self.span(last)[1], say("answers.reference_code"))
            return
        if keys.is_answer_name(node.name) and keys.words(node.name)[0] not in _DEEDS:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return | ast.Yield) and inner.value is not None:
                    self.literals(inner.value)
        self.generic_visit(node)

    # Comparisons

    def visit_Assert(self, node: ast.Assert) -> None:
        before = set(self.values)
        self.values.clear()
        for inner in ast.walk(node.test):
            if isinstance(inner, ast.Compare):
                self.compare(inner, asserted=True)
            elif isinstance(inner, ast.Call):
                self.search(inner)
        self.message(node.msg, self.values)
        self.values |= before
        self.generic_visit(node)

    def message(self, message: ast.expr | None, found: set[str]) -> None:
        """An assertion's message often repeats what it compares with."""
        if message is None:
            return
        start, end = self.span(message)
        for text in found:
            if len(text) >= 2:
                for at in occurrences(self.mask.text, text, start, end):
                    self.mask.add(at, at + len(text), say("answers.literal"))

    def visit_Compare(self, node: ast.Compare) -> None:
        self.compare(node, asserted=False)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = called(node)
        if name == "parametrize" and len(node.args) >= 2:
            self.parametrize(node.args[0], node.args[1])
        elif _ASSERTIONS.fullmatch(name) and name != "assert_":
            exact = re.search(r"(?i)equal|close|almost", name) is not None
            inner = [argument for argument in node.args[:2] if exact or not names_a_thing(argument)]
            for argument in inner:
                others = [other for other in node.args[:2] if other is not argument]
                if not any(mentions(other, _STRUCTURAL) for other in others):
                    self.literals(argument)
        self.generic_visit(node)

    def parametrize(self, names: ast.expr, cases: ast.expr) -> None:
        try:
            listed = ast.literal_eval(names)
        except (ValueError, TypeError, RecursionError, SyntaxError):
            return
        each = [str(name).strip() for name in (listed.split(",") if isinstance(listed, str) else listed)]
        for at, name in enumerate(each):
            if keys.is_answer_name(name) or name in {"output", "result"}:
                self.items(cases, at if len(each) > 1 else None)

    def compare(self, node: ast.Compare, *, asserted: bool) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.Eq | ast.Is):
                self.equal(left, right, asserted=asserted)
                self.equal(right, left, asserted=asserted)
            elif isinstance(operator, ast.In):
                self.contained(left, right, asserted=asserted)
            elif isinstance(operator, ast.Lt | ast.LtE) and asserted:
                self.near(left)
            left = right

    def equal(self, literal: ast.expr, other: ast.expr, *, asserted: bool) -> None:
        if mentions(other, _STRUCTURAL) and not is_answer(other):
            return
        if isinstance(literal, ast.Call) and called(literal) not in _TRANSPARENT and not _on_literal(literal):
            return
        compares = mentions(other, _SPOKEN) or is_answer(other)
        if asserted or (compares and not is_word_of_state(literal)):
            self.literals(literal)

    def contained(self, left: ast.expr, right: ast.expr, *, asserted: bool) -> None:
        spoken = mentions(right, _SPOKEN) or is_answer(right)
        if isinstance(left, ast.Constant) and isinstance(left.value, str | bytes):
            text = left.value if isinstance(left.value, str) else left.value.decode("latin-1")
            plain = _NAME.fullmatch(text) is not None or text.startswith("/")
            if (asserted and (spoken or not plain)) or (spoken and not plain):
                self.literals(left)
        elif (asserted or mentions(left, _SPOKEN)) and not mentions(left, _STRUCTURAL):
            self.literals(right)

    def near(self, left: ast.expr) -> None:
        """`abs(value - 7) < 1e-6` compares with 7."""
        if isinstance(left, ast.Call) and called(left) in {"abs", "fabs", "norm"} and left.args:
            difference = left.args[0]
            if isinstance(difference, ast.BinOp) and isinstance(difference.op, ast.Sub):
                self.literals(difference.left)
                self.literals(difference.right)

    def search(self, node: ast.Call) -> None:
        """`text.startswith("..")` and `re.search("..", text)` tell what is looked for."""
        by_pattern = isinstance(node.func, ast.Attribute) and mentions(node.func.value, keys.names("re regex"))
        sought = node.args[0] if node.args and called(node) in (_SEARCHES if by_pattern else _ENDS) else None
        text = sought.value if isinstance(sought, ast.Constant) else None
        if sought is not None and isinstance(text, str) and not re.fullmatch(r"\.?\w{0,5}|#!.*", text):
            self.hide(sought)

    # Literals

    def literals(self, node: ast.expr, *, bare: bool = True) -> None:
        """Mask the literal that `node` is, or those it is made of. `bare`: a name or a path counts, too."""
        if is_literal(node):
            if not is_harmless(node) and (bare or not names_a_thing(node)):
                self.hide(node)
        elif isinstance(node, ast.JoinedStr):
            self.hide(node)
        elif isinstance(node, ast.Call):
            self.call(node, bare=bare)
        elif isinstance(node, ast.Dict):
            for value in node.values:
                self.literals(value)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            for element in node.elts:
                self.literals(element)
        elif isinstance(node, ast.BinOp):
            self.literals(node.left, bare=bare)
            self.literals(node.right, bare=bare)
        elif isinstance(node, ast.UnaryOp):
            self.literals(node.operand, bare=bare)
        elif isinstance(node, ast.IfExp):
            self.literals(node.body, bare=bare)
            self.literals(node.orelse, bare=bare)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self.literals(value, bare=bare)
        elif isinstance(node, ast.Subscript | ast.Starred | ast.Await):
            self.literals(node.value, bare=False)
        elif isinstance(node, ast.Lambda):
            self.literals(node.body, bare=False)

    def call(self, node: ast.Call, *, bare: bool) -> None:
        name = called(node)
        if isinstance(node.func, ast.Attribute):
            self.literals(node.func.value, bare=True)
        if name in _COMPUTES:
            return
        through = name in _TRANSPARENT or name[:1].isupper()
        for at, argument in enumerate(node.args):
            if at and name in {"round", "int"}:
                break
            if through:
                self.literals(argument, bare=bare)
            elif not is_input(argument):
                self.literals(argument, bare=isinstance(argument, ast.Constant) and isinstance(argument.value, bytes))
        if name == "dict":
            for keyword in node.keywords:
                self.literals(keyword.value)


def _on_literal(node: ast.Call) -> bool:
    """Whether a method of a literal is called: `"a b".split()`."""
    return isinstance(node.func, ast.Attribute) and is_literal(node.func.value)

"""A text of L_NGA as declarations, and functions as syntax trees of Python.

L_NGA says in its own words what a program class says in Python's, so its functions have the same
trees: `v.sum.Accumulate(x)` is the call `v.sum(x)`, `Where (c)` an `if`, a parameter `root` is
`self.root`. Every node remembers the characters that it was read from, so that whoever refuses one
points at the text of the user.

Blocks are braces or indentation. A head is a line that begins with For, If, Else or the name of a
function; lines that begin deeper behind a head are its block. Lines that go on deeper behind any
other line continue it, and within parentheses and braces indentation means nothing, so that
programs in braces are laid out as one likes. Indentation is counted in characters; a line that
mixes tabs and spaces is refused. The lexer hands on every end of a line, so that it reads the
first word of the next one only after the parser knows whether a block ended there.

Names mean nothing yet; `mistakes` explains texts that do not parse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from lark import Token, Tree

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import Reader, parser_of
from graphtide.lang.nga.mistakes import explain_failure
from graphtide.plan.programs import INT_MAX

SELF = "self"
"""What parameters and global variables are attributes of, in trees."""


@dataclass(frozen=True)
class TypeName:
    """`double`, `Accm<double, SUM>`, or an array of either."""

    word: str
    span: Span
    operation: str | None = None
    size: int | str | None = None


@dataclass(frozen=True)
class DeclaredName:
    """One name within the parentheses of a declaration, with what stands behind it."""

    name: str
    span: Span
    type: TypeName | None
    default: int | float | bool | None


@dataclass(frozen=True)
class Setting:
    """`Iterations (10)`: a number, or the name of a parameter."""

    value: int | float | str
    span: Span


@dataclass
class FunctionText:
    """`Initialize (u): ...`, with the name that it gives its vertex."""

    name: str
    vertex: str
    span: Span
    body: list[ast.stmt]


@dataclass
class NgaText:
    """A whole text. Each kind of declaration may stand several times; they add up."""

    name: str | None = None
    documentation: str = ""
    vertex: list[DeclaredName] = field(default_factory=list)
    globals: list[DeclaredName] = field(default_factory=list)
    parameters: list[DeclaredName] = field(default_factory=list)
    edge: list[DeclaredName] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)
    functions: dict[str, FunctionText] = field(default_factory=dict)
    whole: Span | None = None


@dataclass(frozen=True)
class LoopClauses:
    """What a loop over neighbours said, kept at its `ast.For`."""

    word: str
    via: str | None
    distinct: bool


def span_of(node: ast.AST) -> Span | None:
    """Where a node stands in the text; None for one that no text says."""
    span = getattr(node, "span", None)
    return span if isinstance(span, Span) else None


Node = TypeVar("Node", bound=ast.AST)

_ARITHMETIC: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "%": ast.Mod,
    "**": ast.Pow,
}
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<>": ast.NotEq,
    "<=": ast.LtE,
    ">=": ast.GtE,
    "less": ast.Lt,
    "greater": ast.Gt,
    "member": ast.In,
    "not_member": ast.NotIn,
}
_COMMENTS = re.compile(r"\s*//[ \t]?([^\n]*)")


def build_program(tree: Tree[Token], source: Source) -> NgaText:
    text = NgaText(documentation=_leading_comments(source.text))
    text.whole = Span(source, 0, len(source.text.rstrip()))
    builder = _Builder(source)
    for part in tree.children:
        if isinstance(part, Tree):
            getattr(builder, f"_{part.data}")(part, text)
    return text


def _leading_comments(text: str) -> str:
    """The lines of comment that a text begins with: what the program is about."""
    lines, at = [], 0
    while (comment := _COMMENTS.match(text, at)) is not None:
        lines.append(comment.group(1).rstrip())
        at = comment.end()
    return "\n".join(lines)


class _Builder:
    def __init__(self, source: Source) -> None:
        self.source = source

    def span(self, part: Tree[Token] | Token) -> Span:
        if isinstance(part, Token):
            return Span(self.source, part.start_pos or 0, part.end_pos or 0)
        return Span(self.source, part.meta.start_pos, part.meta.end_pos)

    # ---- declarations

    def _title(self, part: Tree[Token], found: NgaText) -> None:
        found.name = str(part.children[0])

    def _vertex(self, part: Tree[Token], found: NgaText) -> None:
        found.vertex += self._attributes(part)

    def _globals(self, part: Tree[Token], found: NgaText) -> None:
        found.globals += self._attributes(part)

    def _parameters(self, part: Tree[Token], found: NgaText) -> None:
        found.parameters += self._attributes(part)

    def _edge(self, part: Tree[Token], found: NgaText) -> None:
        found.edge += self._attributes(part)

    def _iterations(self, part: Tree[Token], found: NgaText) -> None:
        self._setting("iterations", part, found)

    def _tolerance(self, part: Tree[Token], found: NgaText) -> None:
        self._setting("tolerance", part, found)

    def _setting(self, name: str, part: Tree[Token], found: NgaText) -> None:
        token = part.children[0]
        assert isinstance(token, Token)
        if name in found.settings:
            raise language_error(f"'{name}' is given twice", self.span(part), "leave one out")
        numbers: dict[str, Callable[[str], Any]] = {"INT": int, "FLOAT": float}
        value = numbers.get(token.type, str)(str(token))
        found.settings[name] = Setting(value, self.span(token))

    def _attributes(self, part: Tree[Token]) -> list[DeclaredName]:
        listed = part.children[0]
        return [] if listed is None else [self._attribute(item) for item in _trees(listed)]

    def _attribute(self, part: Tree[Token]) -> DeclaredName:
        name, kind, default = part.children
        held = None if kind is None else self._type(_tree(kind))
        value = None if default is None else self._value(_tree(default))
        return DeclaredName(_word(_tree(name).children[0]), self.span(_tree(name)), held, value)

    def _type(self, part: Tree[Token]) -> TypeName:
        match part.data:
            case "plain_type":
                return TypeName(str(part.children[0]), self.span(part))
            case "accumulator_type":
                operation = str(_tree(part.children[1]).children[0])
                return TypeName(str(part.children[0]), self.span(part), operation)
            case _:
                inner, size = part.children
                held = self._type(_tree(inner))
                if held.size is not None:
                    raise language_error(
                        "an array holds plain values", self.span(part), "use one array for each"
                    )
                assert isinstance(size, Token)
                count = int(size) if size.type == "INT" else str(size)
                return TypeName(held.word, self.span(part), held.operation, count)

    def _value(self, part: Tree[Token]) -> int | float | bool:
        sign, token = part.children
        assert isinstance(token, Token)
        plain: dict[str, Callable[[], Any]] = {
            "INT": lambda: int(token),
            "FLOAT": lambda: float(token),
            "INFINITY": lambda: float("inf"),
            "TRUE": lambda: True,
            "FALSE": lambda: False,
        }
        value: Any = plain[token.type]()
        if sign is not None and isinstance(value, bool):
            raise language_error("truth values have no sign", self.span(part), "leave it out")
        signed: int | float | bool = -value if sign is not None else value
        return signed

    # ---- functions

    def _function(self, part: Tree[Token], found: NgaText) -> None:
        word, vertex, block = part.children
        name = str(word).lower()
        if name in found.functions:
            raise language_error(
                f"there are two functions {word}", self.span(part), "write both into one"
            )
        body = [] if block is None else self._block(_tree(block))
        assert isinstance(word, Token)
        found.functions[name] = FunctionText(name, str(vertex), self.span(word), body)

    def _block(self, part: Tree[Token]) -> list[ast.stmt]:
        return [self._statement(item) for item in _trees(part)]

    def _statement(self, part: Tree[Token]) -> ast.stmt:
        match part.data, part.children:
            case "let", [name, value]:
                target = self._at(name, ast.Name(str(name)))
                let = self._at(part, ast.Assign([target], self._expression(value)))
                let.is_let = True  # type: ignore[attr-defined]
                return let
            case "assign", [target, value]:
                return self._at(
                    part, ast.Assign([self._expression(target)], self._expression(value))
                )
            case "accumulate", [target, value]:
                sent = [] if value is None else [self._expression(value)]
                call = self._at(part, ast.Call(self._expression(target), sent, []))
                return self._at(part, ast.Expr(call))
            case "if_statement", [condition, then, otherwise]:
                orelse = [] if otherwise is None else self._block(_tree(otherwise))
                body = self._block(_tree(then)) or [ast.Pass()]
                return self._at(part, ast.If(self._expression(condition), body, orelse))
            case "for_where_via", [name, over, where, via, block]:
                return self._for(part, [name, over, via, where, block])
            case _:
                return self._for(part, part.children)

    def _for(self, part: Tree[Token], parts: list[Any]) -> ast.stmt:
        name, over, via, where, block = parts
        body = self._block(_tree(block)) or [ast.Pass()]
        if where is not None:
            condition = self._expression(_tree(where).children[0])
            body = [self._at(where, ast.If(condition, body, []))]
        target = self._at(name, ast.Name(str(name)))
        if over.data == "over_range":
            bounds = [self._expression(item) for item in over.children if item is not None]
            numbers = self._at(over, ast.Call(ast.Name("range"), bounds, []))
            loop = self._at(part, ast.For(target, numbers, body, []))
            self._refuse_via(via)
            return loop
        distinct, members = over.children
        loop = self._at(part, ast.For(target, self._expression(members), body, []))
        edge = None if via is None else str(_tree(via).children[0])
        word = "" if not isinstance(loop.iter, ast.Attribute) else loop.iter.attr
        loop.loop = LoopClauses(word, edge, distinct is not None)  # type: ignore[attr-defined]
        return loop

    def _refuse_via(self, via: Tree[Token] | None) -> None:
        if via is not None:
            raise language_error(
                "numbers have no edges", self.span(via), "leave `Via` out of loops over numbers"
            )

    # ---- expressions

    def _expression(self, part: Any) -> ast.expr:
        return self._at(part, self._plain_expression(part.data, part.children))

    def _plain_expression(self, rule: str, parts: list[Any]) -> ast.expr:
        build = self._expression
        match rule, parts:
            case "name", [name]:
                return ast.Name(str(name))
            case "parentheses", [inner]:
                return build(inner)
            case "attribute_of", [owner, name]:
                return ast.Attribute(build(owner), _word(name))
            case "element", [owner, index]:
                return ast.Subscript(build(owner), build(index))
            case "call", [name, *arguments]:
                given = [build(item) for item in arguments if item is not None]
                return ast.Call(self._at(name, ast.Name(str(name))), given, [])
            case "binary", [left, operator, right]:
                return ast.BinOp(build(left), _ARITHMETIC[str(operator)](), build(right))
            case "minus", [_, operand]:
                return ast.UnaryOp(ast.USub(), build(operand))
            case "not_", [operand]:
                return ast.UnaryOp(ast.Not(), build(operand))
            case "and_" | "or_", _:
                joined = ast.And() if rule == "and_" else ast.Or()
                return ast.BoolOp(joined, [build(item) for item in parts if isinstance(item, Tree)])
            case "choice", [condition, yes, no]:
                return ast.IfExp(build(condition), build(yes), build(no))
            case "compare", [left, operator, right]:
                return ast.Compare(build(left), [_COMPARISONS[str(operator)]()], [build(right)])
            case _, [left, right]:
                return ast.Compare(build(left), [_COMPARISONS[rule]()], [build(right)])
            case _, [Token() as token]:
                return self._constant(rule, token)
        raise AssertionError(rule)

    def _constant(self, rule: str, token: Token) -> ast.expr:
        match rule:
            case "int_number":
                if int(token) > INT_MAX + 1:
                    raise language_error(
                        "this number does not fit into 64 bits",
                        self.span(token),
                        "write it with a point",
                    )
                return ast.Constant(int(token))
            case "float_number":
                return ast.Constant(float(token))
            case "infinity":
                return ast.Constant(float("inf"))
            case "text":
                return ast.Constant(str(token)[1:-1])
        return ast.Constant(rule == "true")

    def _at(self, part: Any, node: Node) -> Node:
        if getattr(node, "span", None) is None:
            node.span = self.span(part)  # type: ignore[attr-defined]
        return node


def _tree(part: Any) -> Tree[Token]:
    assert isinstance(part, Tree)
    return part


def _trees(part: Any) -> list[Tree[Token]]:
    return [_tree(item) for item in part.children]


def _word(token: Any) -> str:
    return str(token).strip('"')


_HEADS = ("FUNCTION", "_FOR", "_IF", "_ELSE")
_OPENS = ("_OPEN", "_BRACKET", "_BRACE")
_CLOSES = ("_CLOSE", "_BRACKET_END", "_BRACE_END")
_INDENT = re.compile(r"[ \t]*")
_BLANK = re.compile(r"[ \t\f\r]*(?://[^\n]*|/\*(?:[^*\n]|\*(?!/))*\*/[ \t\r]*)?(?:\n|\Z)")


class BlockLayout:
    """What the parser asks for tokens behind the lexer; one text at a time."""

    always_accept = ("_NEWLINE",)

    def __init__(self) -> None:
        self.source = Source("")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The tokens of a text, with those that open and close blocks in place of its lines."""
        levels, depth = [self._first_column()], 0
        head, begins, token = False, True, Token("_DEDENT", "")
        for token in stream:
            if token.type != "_NEWLINE":
                head = token.type in _HEADS if begins else head
                begins = False
                depth += (token.type in _OPENS) - (token.type in _CLOSES)
                yield token
            elif depth == 0 and not _BLANK.match(self.source.text, token.end_pos or 0):
                yield from self._next_line(token, levels, head and not begins)
                begins = True
        for _ in levels[1:]:
            yield Token.new_borrow_pos("_DEDENT", "", token)

    def _next_line(self, newline: Token, levels: list[int], head: bool) -> Iterator[Token]:
        start = newline.end_pos or 0
        indent = self._indent(start)
        column, place = len(indent), start + len(indent)
        if head and column > levels[-1] and self.source.text[place] != "{":
            levels.append(column)
            yield Token.new_borrow_pos("_INDENT", "", newline)
        closed = False
        while column < levels[-1] and len(levels) > 1:
            levels.pop()
            closed = True
            yield Token.new_borrow_pos("_DEDENT", "", newline)
        before = self.source.text[:start].rstrip()
        if column > levels[-1] and (closed or before.endswith((";", "}"))):
            raise language_error(
                "this line stands deeper than those of its block",
                Span(self.source, place, place + 1),
                "indent what stands in one block alike; For, If, Else and functions open blocks",
            )

    def _first_column(self) -> int:
        for line in self.source.text.split("\n"):
            if line.strip():
                return len(line) - len(line.lstrip())
        return 0

    def _indent(self, start: int) -> str:
        matched = _INDENT.match(self.source.text, start)
        indent = matched.group() if matched else ""
        if " " in indent and "\t" in indent:
            raise language_error(
                "tabs and spaces are mixed in front of this line",
                Span(self.source, start, start + len(indent)),
                "indent with spaces alone, or put blocks in braces",
            )
        return indent


def parse_program(text: str, name: str | None = None) -> NgaText:
    """What a text says; `name` is that of its file. LanguageError where it says nothing."""
    source = Source(text.replace("\r\n", "\n"), name)
    if not source.text.strip():
        raise language_error(
            "there is nothing to read",
            Span(source, 0, 0),
            "a program is `Vertex (...)`, `Traverse (u): ...` and `Update (u): ...`",
        )
    return build_program(_reader().read(source, "program"), source)


@cache
def _reader() -> Reader:
    layout = BlockLayout()
    parser = parser_of("nga", start="program", postlex=layout, propagate_positions=True)
    return Reader(parser, layout, explain_failure)

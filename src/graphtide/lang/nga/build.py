"""From what the parser found to declarations and trees; the grammar says what each rule holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, TypeVar

from lark import Token, Tree

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.nga.tree import Attribute, Function, Loop, ProgramText, Setting, TypeName
from graphtide.plan.programs import INT_MAX

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
}
_COMMENTS = re.compile(r"\s*//[ \t]?([^\n]*)")


def build_program(tree: Tree[Token], source: Source) -> ProgramText:
    """The program that a parse tree holds."""
    text = ProgramText(documentation=_leading_comments(source.text))
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
        """The characters that a rule or a word was read from."""
        if isinstance(part, Token):
            return Span(self.source, part.start_pos or 0, part.end_pos or 0)
        return Span(self.source, part.meta.start_pos, part.meta.end_pos)

    # ---- declarations

    def _title(self, part: Tree[Token], found: ProgramText) -> None:
        found.name = str(part.children[0])

    def _vertex(self, part: Tree[Token], found: ProgramText) -> None:
        found.vertex += self._attributes(part)

    def _globals(self, part: Tree[Token], found: ProgramText) -> None:
        found.globals += self._attributes(part)

    def _parameters(self, part: Tree[Token], found: ProgramText) -> None:
        found.parameters += self._attributes(part)

    def _edge(self, part: Tree[Token], found: ProgramText) -> None:
        found.edge += self._attributes(part)

    def _iterations(self, part: Tree[Token], found: ProgramText) -> None:
        self._setting("iterations", part, found)

    def _tolerance(self, part: Tree[Token], found: ProgramText) -> None:
        self._setting("tolerance", part, found)

    def _setting(self, name: str, part: Tree[Token], found: ProgramText) -> None:
        token = part.children[0]
        assert isinstance(token, Token)
        if name in found.settings:
            raise language_error(f"'{name}' is given twice", self.span(part), "leave one out")
        numbers: dict[str, Callable[[str], Any]] = {"INT": int, "FLOAT": float}
        value = numbers.get(token.type, str)(str(token))
        found.settings[name] = Setting(value, self.span(token))

    def _attributes(self, part: Tree[Token]) -> list[Attribute]:
        listed = part.children[0]
        return [] if listed is None else [self._attribute(item) for item in _trees(listed)]

    def _attribute(self, part: Tree[Token]) -> Attribute:
        name, kind, default = part.children
        held = None if kind is None else self._type(_tree(kind))
        value = None if default is None else self._value(_tree(default))
        return Attribute(_word(_tree(name).children[0]), self.span(_tree(name)), held, value)

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

    def _function(self, part: Tree[Token], found: ProgramText) -> None:
        word, vertex, block = part.children
        name = str(word).lower()
        if name in found.functions:
            raise language_error(
                f"there are two functions {word}", self.span(part), "write both into one"
            )
        body = [] if block is None else self._block(_tree(block))
        assert isinstance(word, Token)
        found.functions[name] = Function(name, str(vertex), self.span(word), body)

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
        loop.loop = Loop(word, edge, distinct is not None)  # type: ignore[attr-defined]
        return loop

    def _refuse_via(self, via: Tree[Token] | None) -> None:
        if via is not None:
            raise language_error(
                "numbers have no edges", self.span(via), "leave `Via` out of loops over numbers"
            )

    # ---- expressions

    def _expression(self, part: Any) -> ast.expr:
        built = getattr(self, f"_expr_{part.data}")(*part.children)
        expression: ast.expr = built
        return self._at(part, expression)

    def _expr_name(self, name: Token) -> ast.expr:
        return ast.Name(str(name))

    def _expr_parentheses(self, inner: Any) -> ast.expr:
        return self._expression(inner)

    def _expr_attribute_of(self, owner: Any, name: Token) -> ast.expr:
        return ast.Attribute(self._expression(owner), _word(name))

    def _expr_element(self, owner: Any, index: Any) -> ast.expr:
        return ast.Subscript(self._expression(owner), self._expression(index))

    def _expr_int_number(self, token: Token) -> ast.expr:
        value = int(token)
        if value > INT_MAX + 1:
            raise language_error(
                "this number does not fit into 64 bits", self.span(token), "write it with a point"
            )
        return ast.Constant(value)

    def _expr_float_number(self, token: Token) -> ast.expr:
        return ast.Constant(float(token))

    def _expr_infinity(self, token: Token) -> ast.expr:
        return ast.Constant(float("inf"))

    def _expr_text(self, token: Token) -> ast.expr:
        return ast.Constant(str(token)[1:-1])

    def _expr_true(self, token: Token) -> ast.expr:
        return ast.Constant(True)

    def _expr_false(self, token: Token) -> ast.expr:
        return ast.Constant(False)

    def _expr_call(self, name: Token, *arguments: Any) -> ast.expr:
        given = [self._expression(item) for item in arguments if item is not None]
        return ast.Call(self._at(name, ast.Name(str(name))), given, [])

    def _expr_binary(self, left: Any, operator: Token, right: Any) -> ast.expr:
        return ast.BinOp(
            self._expression(left), _ARITHMETIC[str(operator)](), self._expression(right)
        )

    def _expr_minus(self, sign: Token, operand: Any) -> ast.expr:
        return ast.UnaryOp(ast.USub(), self._expression(operand))

    def _expr_not_(self, operand: Any) -> ast.expr:
        return ast.UnaryOp(ast.Not(), self._expression(operand))

    def _expr_and_(self, *terms: Any) -> ast.expr:
        return ast.BoolOp(ast.And(), self._terms(terms))

    def _expr_or_(self, *terms: Any) -> ast.expr:
        return ast.BoolOp(ast.Or(), self._terms(terms))

    def _terms(self, terms: tuple[Any, ...]) -> list[ast.expr]:
        return [self._expression(item) for item in terms if isinstance(item, Tree)]

    def _expr_choice(self, condition: Any, yes: Any, no: Any) -> ast.expr:
        return ast.IfExp(self._expression(condition), self._expression(yes), self._expression(no))

    def _expr_compare(self, left: Any, operator: Token, right: Any) -> ast.expr:
        return self._compared(left, _COMPARISONS[str(operator)](), right)

    def _expr_less(self, left: Any, right: Any) -> ast.expr:
        return self._compared(left, ast.Lt(), right)

    def _expr_greater(self, left: Any, right: Any) -> ast.expr:
        return self._compared(left, ast.Gt(), right)

    def _expr_member(self, left: Any, right: Any) -> ast.expr:
        return self._compared(left, ast.In(), right)

    def _expr_not_member(self, left: Any, right: Any) -> ast.expr:
        return self._compared(left, ast.NotIn(), right)

    def _compared(self, left: Any, operator: ast.cmpop, right: Any) -> ast.expr:
        return ast.Compare(self._expression(left), [operator], [self._expression(right)])

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
    """A name, without the quotes that it may stand in."""
    return str(token).strip('"')

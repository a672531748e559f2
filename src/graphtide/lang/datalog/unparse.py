"""A tree as text; reading that gives the same tree."""

from __future__ import annotations

from graphtide.lang.datalog.tree import (
    Aggregate,
    Anonymous,
    Atom,
    Attribute,
    Body,
    BodyLiteral,
    Call,
    Comparison,
    Directive,
    Disjunction,
    Literal,
    Negation,
    ProgramText,
    Query,
    Record,
    RecordDeclaration,
    RelationDeclaration,
    Rule,
    Statement,
    Subsumption,
    Term,
    Test,
    TypeDeclaration,
    Variable,
)

# A minus holds less tightly than a power, as in Soufflé: -x ^ 2 is -(x ^ 2).
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 4}
_UNARY = 3
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def unparse_datalog(program: ProgramText) -> str:
    """A whole program, a line a statement."""
    return "".join(f"{unparse_statement(item)}\n" for item in program.statements)


def unparse_statement(statement: Statement) -> str:
    """One statement."""
    match statement:
        case RelationDeclaration(names, attributes):
            return f".decl {', '.join(names)}({_attributes(attributes)})"
        case TypeDeclaration(name, (base,)):
            return f".type {name} <: {base}"
        case TypeDeclaration(name, bases):
            return f".type {name} = {' | '.join(bases)}"
        case RecordDeclaration(name, fields):
            return f".type {name} = [{_attributes(fields)}]"
        case Directive(kind, relations, settings):
            told = ", ".join(f"{name}={_quoted(value)}" for name, value in settings)
            return f".{kind} {', '.join(relations)}" + (f"({told})" if told else "")
        case Rule(heads, body, order):
            plan = f" .plan 0:({', '.join(map(str, order))})" if order is not None else ""
            head = ", ".join(map(unparse_literal, heads))
            return f"{head}{f' :- {unparse_body(body)}' if body else ''}.{plan}"
        case Subsumption(less, more, body):
            return f"{unparse_literal(less)} <= {unparse_literal(more)} :- {unparse_body(body)}."
        case Query(atom):
            return f"?- {unparse_literal(atom)}."


def unparse_body(body: Body) -> str:
    """Alternatives, with `;` between them."""
    return "; ".join(", ".join(map(unparse_literal, part)) for part in body)


def unparse_literal(literal: BodyLiteral) -> str:
    """One literal."""
    match literal:
        case Atom(name, arguments) | Test(name, arguments):
            return f"{name}({', '.join(unparse_term(item) for item in arguments)})"
        case Negation(inner):
            return f"!{unparse_literal(inner)}"
        case Comparison(operator, left, right):
            return f"{unparse_term(left)} {operator} {unparse_term(right)}"
        case Disjunction(body):
            return f"({unparse_body(body)})"


def unparse_term(term: Term, level: int = 0) -> str:
    """A term, in parentheses where what is around it holds more tightly than `level`."""
    match term:
        case Variable(name):
            return name
        case Anonymous():
            return "_"
        case Literal(value):
            text = _quoted(value) if isinstance(value, str) else _number(value)
            return f"({text})" if text[0] == "-" and level > _UNARY else text
        case Record(fields):
            return f"[{', '.join(unparse_term(item) for item in fields)}]"
        case Aggregate(operation, target, body):
            of = "" if target is None else f" {unparse_term(target)}"
            return f"{operation}{of} : {{ {unparse_body(body)} }}"
        case Call("neg", (inner,)):
            # A number behind the sign would be read as one number.
            plain = isinstance(inner, Literal) and not _number_text(inner).startswith("-")
            text = f"-({unparse_term(inner)})" if plain else f"-{unparse_term(inner, _UNARY)}"
            return f"({text})" if level > _UNARY else text
        case Call(name, (left, right)) if name in _LEVELS:
            return _infix(name, left, right, level)
        case Call(name, arguments):
            return f"{name}({', '.join(unparse_term(item) for item in arguments)})"


def _infix(name: str, left: Term, right: Term, level: int) -> str:
    own = _LEVELS[name]
    one, other = (own + 1, _UNARY) if name == "^" else (own, own + 1)
    text = f"{unparse_term(left, one)} {name} {unparse_term(right, other)}"
    return f"({text})" if own < level else text


def _number_text(literal: Literal) -> str:
    return "" if isinstance(literal.value, str) else _number(literal.value)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    mantissa, sign, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{sign}{exponent}"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _attributes(attributes: tuple[Attribute, ...]) -> str:
    return ", ".join(f"{item.name}: {item.type}" for item in attributes)

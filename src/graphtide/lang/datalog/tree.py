"""The syntax tree of Datalog, what was written before it means anything, and its text.

Nodes compare and hash by what they say; their place in the text (`span`) does not count, and nodes
built by hand need none. A body is a tuple of alternatives, each a tuple of literals that must hold
together; a `Disjunction` among literals is a body in parentheses. Parsing the text of a tree gives
the same tree. What names and types mean is up to `types` and `resolve`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphtide.lang.trees import Node


@dataclass(frozen=True)
class Variable(Node):
    """A name that stands for one value in a rule."""

    name: str


@dataclass(frozen=True)
class Anonymous(Node):
    """`_`: any value."""


@dataclass(frozen=True)
class Literal(Node):
    """A number, a float or a text; `kind` keeps 1 and 1.0 apart, which Python calls equal."""

    value: int | float | str
    kind: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value).__name__)


@dataclass(frozen=True)
class Call(Node):
    """A function of values: an operator such as `+`, `-` of one value (`neg`), or a name."""

    function: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True)
class Record(Node):
    """`[a, b]`: a value of a record type."""

    fields: tuple[Term, ...]


@dataclass(frozen=True)
class Aggregate(Node):
    """`sum x : { body }`; `count` has no target."""

    operation: str
    target: Term | None
    body: Body


Term = Variable | Anonymous | Literal | Call | Record | Aggregate


@dataclass(frozen=True)
class Atom(Node):
    """`edge(x, _)`."""

    relation: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True)
class Negation(Node):
    """`!edge(x, y)`, `!match("a.*", x)`."""

    literal: Atom | Test


@dataclass(frozen=True)
class Comparison(Node):
    """`x < y + 1`."""

    operator: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Test(Node):
    """`contains(x, y)` and `match(x, y)`: true or false."""

    __test__ = False

    name: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True)
class Disjunction(Node):
    """Alternatives in parentheses, among literals that must hold together."""

    body: Body


BodyLiteral = Atom | Negation | Comparison | Test | Disjunction
Body = tuple[tuple[BodyLiteral, ...], ...]


@dataclass(frozen=True)
class Attribute(Node):
    """A named and typed place of a relation, or field of a record."""

    name: str
    type: str


@dataclass(frozen=True)
class RelationDeclaration(Node):
    """`.decl a, b(x: number)`."""

    names: tuple[str, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class TypeDeclaration(Node):
    """`.type city <: symbol`, `.type place = city | town`: other names for a type."""

    name: str
    bases: tuple[str, ...]


@dataclass(frozen=True)
class RecordDeclaration(Node):
    """`.type id = [counter: number, node: number]`."""

    name: str
    fields: tuple[Attribute, ...]


@dataclass(frozen=True)
class Directive(Node):
    """`.input`, `.output` or `.printsize`, with settings such as `filename`."""

    kind: str
    relations: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Rule(Node):
    """Facts, where there is no body; `order` is that of the atoms of the body, from 1."""

    heads: tuple[Atom, ...]
    body: Body = ()
    order: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Subsumption(Node):
    """`d(x, a) <= d(x, b) :- b <= a.`: of two facts like these only the second one stays."""

    dominated: Atom
    dominating: Atom
    body: Body


@dataclass(frozen=True)
class Query(Node):
    """`?- tc("david", x).`"""

    atom: Atom


Statement = (
    RelationDeclaration
    | TypeDeclaration
    | RecordDeclaration
    | Directive
    | Rule
    | Subsumption
    | Query
)


@dataclass(frozen=True)
class ProgramText(Node):
    """A whole text."""

    statements: tuple[Statement, ...]


# A minus holds less tightly than a power, as in Soufflé: -x ^ 2 is -(x ^ 2).
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 4}
_UNARY = 3
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def unparse_datalog(program: ProgramText) -> str:
    return "".join(f"{unparse_statement(item)}\n" for item in program.statements)


def unparse_statement(statement: Statement) -> str:
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
            listed = ", ".join(f"{name}={_quoted(value)}" for name, value in settings)
            return f".{kind} {', '.join(relations)}" + (f"({listed})" if listed else "")
        case Rule(heads, body, order):
            plan = f" .plan 0:({', '.join(map(str, order))})" if order is not None else ""
            head = ", ".join(map(unparse_literal, heads))
            return f"{head}{f' :- {unparse_body(body)}' if body else ''}.{plan}"
        case Subsumption(less, more, body):
            return f"{unparse_literal(less)} <= {unparse_literal(more)} :- {unparse_body(body)}."
        case Query(atom):
            return f"?- {unparse_literal(atom)}."


def unparse_body(body: Body) -> str:
    return "; ".join(", ".join(map(unparse_literal, part)) for part in body)


def unparse_literal(literal: BodyLiteral) -> str:
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
            text = _quoted(value) if isinstance(value, str) else _number_digits(value)
            return f"({text})" if text[0] == "-" and level > _UNARY else text
        case Record(fields):
            return f"[{', '.join(unparse_term(item) for item in fields)}]"
        case Aggregate(operation, target, body):
            of = "" if target is None else f" {unparse_term(target)}"
            return f"{operation}{of} : {{ {unparse_body(body)} }}"
        case Call("neg", (inner,)):
            # A number behind the sign would be read as one number.
            plain = isinstance(inner, Literal) and unparse_term(inner)[0] != "-"
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


def _number_digits(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    mantissa, sign, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{sign}{exponent}"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _attributes(attributes: tuple[Attribute, ...]) -> str:
    return ", ".join(f"{item.name}: {item.type}" for item in attributes)

"""The syntax tree of Datalog: what was written, before it means anything.

Nodes compare and hash by what they say; their place in the text (`span`) does not count, and nodes
built by hand need none. A body is a tuple of alternatives, each a tuple of literals that must hold
together; a `Disjunction` among literals is a body in parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphtide.lang.diagnostics import Span


@dataclass(frozen=True, kw_only=True)
class Node:
    """Base of all nodes: the place in the text, which takes no part in comparisons."""

    span: Span | None = field(default=None, compare=False, repr=False)


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

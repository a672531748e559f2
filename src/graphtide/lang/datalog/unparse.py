"""A tree as text; reading that gives the same tree."""

from __future__ import annotations

from graphtide.lang.datalog import tree

# A minus holds less tightly than a power, as in Soufflé: -x ^ 2 is -(x ^ 2).
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 4}
_UNARY = 3
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def unparse_datalog(program: tree.ProgramText) -> str:
    """A whole program, a line a statement."""
    return "".join(f"{unparse_statement(item)}\n" for item in program.statements)


def unparse_statement(statement: tree.Statement) -> str:
    """One statement."""
    match statement:
        case tree.RelationDeclaration(names, attributes):
            return f".decl {', '.join(names)}({_attributes(attributes)})"
        case tree.TypeDeclaration(name, (base,)):
            return f".type {name} <: {base}"
        case tree.TypeDeclaration(name, bases):
            return f".type {name} = {' | '.join(bases)}"
        case tree.RecordDeclaration(name, fields):
            return f".type {name} = [{_attributes(fields)}]"
        case tree.Directive(kind, relations, settings):
            listed = ", ".join(f"{name}={_quoted(value)}" for name, value in settings)
            return f".{kind} {', '.join(relations)}" + (f"({listed})" if listed else "")
        case tree.Rule(heads, body, order):
            plan = f" .plan 0:({', '.join(map(str, order))})" if order is not None else ""
            head = ", ".join(map(unparse_literal, heads))
            return f"{head}{f' :- {unparse_body(body)}' if body else ''}.{plan}"
        case tree.Subsumption(less, more, body):
            return f"{unparse_literal(less)} <= {unparse_literal(more)} :- {unparse_body(body)}."
        case tree.Query(atom):
            return f"?- {unparse_literal(atom)}."


def unparse_body(body: tree.Body) -> str:
    """Alternatives, with `;` between them."""
    return "; ".join(", ".join(map(unparse_literal, part)) for part in body)


def unparse_literal(literal: tree.BodyLiteral) -> str:
    """One literal."""
    match literal:
        case tree.Atom(name, arguments) | tree.Test(name, arguments):
            return f"{name}({', '.join(unparse_term(item) for item in arguments)})"
        case tree.Negation(inner):
            return f"!{unparse_literal(inner)}"
        case tree.Comparison(operator, left, right):
            return f"{unparse_term(left)} {operator} {unparse_term(right)}"
        case tree.Disjunction(body):
            return f"({unparse_body(body)})"


def unparse_term(term: tree.Term, level: int = 0) -> str:
    """A term, in parentheses where what is around it holds more tightly than `level`."""
    match term:
        case tree.Variable(name):
            return name
        case tree.Anonymous():
            return "_"
        case tree.Literal(value):
            text = _quoted(value) if isinstance(value, str) else _number(value)
            return f"({text})" if text[0] == "-" and level > _UNARY else text
        case tree.Record(fields):
            return f"[{', '.join(unparse_term(item) for item in fields)}]"
        case tree.Aggregate(operation, target, body):
            of = "" if target is None else f" {unparse_term(target)}"
            return f"{operation}{of} : {{ {unparse_body(body)} }}"
        case tree.Call("neg", (inner,)):
            # A number behind the sign would be read as one number.
            plain = isinstance(inner, tree.Literal) and not _number_text(inner).startswith("-")
            text = f"-({unparse_term(inner)})" if plain else f"-{unparse_term(inner, _UNARY)}"
            return f"({text})" if level > _UNARY else text
        case tree.Call(name, (left, right)) if name in _LEVELS:
            return _infix(name, left, right, level)
        case tree.Call(name, arguments):
            return f"{name}({', '.join(unparse_term(item) for item in arguments)})"


def _infix(name: str, left: tree.Term, right: tree.Term, level: int) -> str:
    own = _LEVELS[name]
    one, other = (own + 1, _UNARY) if name == "^" else (own, own + 1)
    text = f"{unparse_term(left, one)} {name} {unparse_term(right, other)}"
    return f"({text})" if own < level else text


def _number_text(literal: tree.Literal) -> str:
    return "" if isinstance(literal.value, str) else _number(literal.value)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    mantissa, sign, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{sign}{exponent}"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _attributes(attributes: tuple[tree.Attribute, ...]) -> str:
    return ", ".join(f"{item.name}: {item.type}" for item in attributes)

"""The decorator that turns a class into a program, and the program that users then hold."""

from __future__ import annotations

from typing import Any, TypeAlias, dataclass_transform

from graphtide.lang.python.read import read_program
from graphtide.model.errors import InputError, LanguageError
from graphtide.plan.program_columns import column_names
from graphtide.plan.program_text import explain
from graphtide.plan.program_values import BoundProgram, BoundWalk, bind
from graphtide.plan.programs import Parameter, VertexProgram
from graphtide.plan.walk_text import explain_walk
from graphtide.plan.walks import WalkProgram


class Program:
    """A program that is ready to be given its parameters: `ShortestPaths(source=3)`."""

    def __init__(self, plan: VertexProgram | WalkProgram) -> None:
        self.plan = plan
        self.__name__ = plan.name
        self.__doc__ = plan.documentation

    def __call__(self, /, *values: object, **parameters: object) -> BoundProgram | BoundWalk:
        """The program with values for its parameters; InputError if they do not fit.

        A property that it reads is given by the name that the data have for it:
        `ShortestPaths(source=3, weight="km")` reads `km` where its author wrote `e.weight`.
        """
        if values:
            known = [item.name for item in self.plan.parameters]
            raise InputError(
                f"the parameters of {self.plan.name} are given by name",
                hint=f"write {self.plan.name}({', '.join(f'{name}=...' for name in known)})",
            )
        return bind(self.plan, parameters)

    @property
    def name(self) -> str:
        """What it is called in statements and errors."""
        return self.plan.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it is to be given, or has a default for."""
        return self.plan.parameters

    @property
    def columns(self) -> tuple[str, ...]:
        """The properties that it reads, each of which may be given by another name."""
        return column_names(self.plan)

    def explain(self) -> str:
        """The plan as text."""
        if isinstance(self.plan, WalkProgram):
            return explain_walk(self.plan)
        return explain(self.plan)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.plan == other.plan

    def __hash__(self) -> int:
        return hash(self.plan)

    def __repr__(self) -> str:
        names = ", ".join(item.name for item in self.plan.parameters)
        return f"<program {self.plan.name}({names})>"


@dataclass_transform(kw_only_default=True)
def program(cls: type) -> Program:
    """Read a class into a program, from its source.

    The page "Vertex programs" of the documentation says what can be written, and the page "Walk
    programs" the same for patterns of several edges.

    Type checkers that take the decorated name for the class still know its parameters.
    """
    try:
        return Program(read_program(cls))
    except LanguageError as error:
        # What was read on the way says nothing to whoever wrote the class.
        raise error.with_traceback(None) from None


AnyProgram: TypeAlias = Any
"""A `Program` or a dataflow as one, bare or with its parameters.

To some type checkers a decorated name is still the class of the user's.
"""

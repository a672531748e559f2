"""What a live graph remembers by name: programs, and consumers of changes.

A live graph may have been made by somebody else, so nothing that it stores is ever carried out. A
program of the library is stored by its name. A vertex or walk program of a user's own is stored as
text in our own languages, which is parsed by us and goes through every check; so are rules of
Datalog. A dataflow is a function, which no text of ours can say: only its module and its name are
stored. It is found again where the caller hands the function over, or says that the module is
trusted: then, and only then, that module is imported.

A consumer has a file that says of what it is told, where, and the last version that it has taken,
written after the consumer is done with a version. A folder is told again after a start only if it
holds a mark that says the same, which was put there when it was handed over: a copy of the graph
stands elsewhere, and tells nobody.

Queries are in `stored_queries`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide import algorithms
from graphtide.lang import nga as nga_language
from graphtide.lang.datalog.program import BoundRules, graph_rules, read_datalog
from graphtide.lang.python import BoundDataflow, DataflowProgram, Program, unparse
from graphtide.lang.python.program_files import programs_of
from graphtide.lang.python.unparse import written_program
from graphtide.model import disk
from graphtide.model.disk import disk_errors, read_error
from graphtide.model.errors import DamagedError, GraphtideError, InputError
from graphtide.model.names import check_name, folder_name, name_of_folder
from graphtide.plan.program_values import VERTEX_COUNT
from graphtide.plan.programs import VertexProgram
from graphtide.plan.walks import WalkProgram
from graphtide.run.live.programs import Bound
from graphtide.store.files import facts_of, seal, unseal, well_formed
from graphtide.store.log import CONSUMERS

Stored = dict[str, Any]


@dataclass(frozen=True)
class Trust:
    """What a live graph may make of the names that it stores: dataflows, and modules to import."""

    dataflows: tuple[DataflowProgram, ...] = ()
    modules: frozenset[str] = frozenset()

    def dataflow(self, stored: Stored) -> DataflowProgram:
        name, module, within = (_text(stored, key) for key in ("name", "module", "within"))
        same = [item for item in self.dataflows if _home(item) == (module, within)]
        same += [item for item in self.dataflows if item.name == name]
        if same:
            return same[0]
        if module not in self.modules:
            raise InputError(
                f"the dataflow {name} is a function of the module {module!r}, which is not trusted",
                hint=f"if you trust it, open the graph with trust=[{module!r}], or hand the "
                f"function over: trust=[{within}]; with trust=False it opens without it",
            )
        try:
            item: Any = import_module(module)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"the program {name} is not found again: {error}",
                hint=f"it was registered from the module '{module}': let Python find that, or "
                f"hand the function over: trust=[{within}]",
            ) from None
        for part in within.split("."):
            item = vars(item).get(part) if hasattr(item, "__dict__") else None
        if isinstance(item, DataflowProgram):
            return item
        raise InputError(
            f"the program {name} is not found again: the module '{module}' has no '{within}'",
            hint="define it there before the live graph is opened, or hand it over: "
            f"trust=[{within}]",
        )

    def also(self, program: Bound) -> Trust:
        """This trust extended by a program's own dataflow function, if it has one."""
        if not isinstance(program, BoundDataflow):
            return self
        return replace(self, dataflows=(program.program, *self.dataflows))


TrustedBy: TypeAlias = Iterable[str | DataflowProgram] | str | DataflowProgram | Literal[False]
"""What callers say that they trust; False: nothing, and what needs more is to be left out."""


def trusted(given: TrustedBy) -> Trust:
    """What a caller trusts: dataflows, names of modules, and files of Python that define some."""
    dataflows: list[DataflowProgram] = []
    modules: set[str] = set()
    for item in (given,) if isinstance(given, str | DataflowProgram) else given or ():
        if isinstance(item, DataflowProgram):
            dataflows.append(item)
        elif isinstance(item, str) and item.endswith(".py"):
            found = programs_of(Path(item)).values()
            dataflows += [one for one in found if isinstance(one, DataflowProgram)]
        elif isinstance(item, str) and all(map(str.isidentifier, item.split("."))):
            modules.add(item)
        else:
            raise InputError(
                f"{item!r} is nothing that can be trusted",
                hint="give dataflows, names of modules such as 'my_jobs.flows', and files of "
                "Python such as 'flows.py'",
            )
    return Trust(tuple(dataflows), frozenset(modules))


def stored_program(bound: Bound) -> Stored:
    """What is stored of a program and its parameters; InputError if it could not be made again."""
    if isinstance(bound, BoundRules):
        program = bound.program
        source = {"kind": "datalog", "name": program.name, "text": program.text}
    elif isinstance(bound, BoundDataflow):
        source = _stored_dataflow(bound.program)
    else:
        source = _stored_plan(bound.written or bound.program)
    given = {name: value for name, value in bound.values if value is not VERTEX_COUNT}
    columns = {} if isinstance(bound, BoundRules) else dict(bound.columns)
    values = {name: _plain(value) for name, value in given.items()}
    return {**source, "values": {**values, **columns}}


def made_program(stored: Stored, trust: Trust) -> Bound:
    with well_formed(f"the program {told_program(stored)}"):
        program: Bound = _found(stored, trust)(**stored["values"])
    return program


def told_program(stored: Stored) -> str:
    return str(stored.get("name"))[:100]


def _stored_dataflow(program: DataflowProgram) -> Stored:
    known = _library_name(lambda item: item is program)
    if known:
        return {"kind": "library", "name": known}
    module, within = _home(program)
    if "<locals>" in within:
        raise InputError(
            f"the dataflow {program.name} cannot be registered: it is defined within a function",
            hint="define it at the top of a module, where it is found again after a start",
        )
    return {"kind": "module", "name": program.name, "module": module, "within": within}


def _home(program: DataflowProgram) -> tuple[str, str]:
    return program.build.__module__, program.build.__qualname__


def _stored_plan(plan: VertexProgram | WalkProgram) -> Stored:
    known = _library_name(lambda item: isinstance(item, Program) and item.plan == plan)
    if known:
        return {"kind": "library", "name": known}
    for kind, write in (("nga", nga_language.unparse), ("python", unparse)):
        try:
            text = write(plan)
            if _READERS[kind](text).plan == plan:
                return {"kind": kind, "name": plan.name, "text": text}
        except GraphtideError:
            continue
    raise InputError(
        f"{plan.name} cannot be registered: it cannot be written as text",
        hint="maintain it instead: graph.maintain(...), after every start",
    )


def _library_name(is_it: Callable[[Any], bool]) -> str | None:
    return next((name for name in algorithms.__all__ if is_it(getattr(algorithms, name))), None)


def _found(stored: Stored, trust: Trust) -> Any:
    name = _text(stored, "name")
    match stored.get("kind"):
        case "library" if name in algorithms.__all__:
            return getattr(algorithms, name)
        case "library":
            raise InputError(
                f"the program {name} is not found again: the library has none of that name",
                hint="it was registered with another version of graphtide: use that, or register "
                "another program",
            )
        case "nga" | "python" as kind:
            return _READERS[kind](_text(stored, "text"))
        case "datalog":
            found = read_datalog(_whole_text(_text(stored, "text")))
            return graph_rules(replace(found, name=name))
        case "module":
            return trust.dataflow(stored)
    raise ValueError("of no kind that there is")


_READERS: dict[str, Callable[[str], Program]] = {
    "nga": lambda text: nga_language.nga(_whole_text(text)),
    "python": written_program,
}


def _whole_text(text: str) -> str:
    """Add a line end, so that the text cannot be taken for a file name."""
    return f"{text}\n"


def _text(stored: Stored, key: str) -> str:
    value = stored[key]
    if isinstance(value, str):
        return value
    raise TypeError(f"'{key}' is no text")


def _plain(value: Any) -> Any:
    """A value of a parameter as JSON has it; moments are in ISO form."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, dt.date) else value


@dataclass(frozen=True)
class Consumer:
    """Is told of what is called `of`, in the folder `to`, or by a function where that is None."""

    version: int
    of: str | None = None
    to: str | None = None


def read_consumer(folder: Path, consumer: str) -> Consumer | None:
    """A consumer as it is noted; None for a new one."""
    path = _path(folder, consumer)
    try:
        return facts_of(Consumer, unseal(disk.read_file(path))[0])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise read_error(error, f"how far the consumer '{consumer}' has come", path) from None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"it is not known any more how far the consumer '{consumer}' has come: {error}",
            where=str(path),
            hint="delete the file: the consumer then begins with the current version",
        ) from None


def consumer_names(folder: Path) -> Iterator[str]:
    there = folder / CONSUMERS
    try:
        files = disk.names_in(there)
    except FileNotFoundError:
        return
    except OSError as error:
        raise read_error(error, "who is told of changes", there) from None
    for file in files:
        name = name_of_folder(file)
        if name is not None:
            yield name


def note_consumer(folder: Path, consumer: str, noted: Consumer) -> None:
    """Store what a consumer receives, and the last version it has taken."""
    path = _path(folder, consumer)
    with disk_errors(f"the version of the consumer '{consumer}'", path):
        disk.make_folders_below(folder, path.parent)
        with disk.whole_new_file(path) as file:
            file.write(seal(asdict(noted))[0])


def forget_consumer(folder: Path, consumer: str, noted: Consumer) -> None:
    """Remove a consumer; its files of changes stay."""
    with disk_errors(f"the consumer '{consumer}'", folder):
        disk.remove(_path(folder, consumer))
        if noted.to is not None and is_marked(folder, consumer, noted.to):
            disk.remove(_mark(noted.to, consumer))


def mark(folder: Path, consumer: str, to: str) -> None:
    """Mark a folder as a consumer that the graph serves after each start."""
    with disk_errors("the changes", Path(to)):
        disk.make_folders(Path(to), exported=True)
        with disk.whole_new_file(_mark(to, consumer), exported=True) as file:
            file.write(seal(_marked(folder, consumer))[0])


def is_marked(folder: Path, consumer: str, to: str) -> bool:
    """Whether a folder was handed over to this consumer of the graph, at the place where it is."""
    try:
        return bool(unseal(disk.read_file(_mark(to, consumer)))[0] == _marked(folder, consumer))
    except (OSError, ValueError):
        return False


def write_changes(folder: Path, version: int, changes: pa.Table) -> None:
    """Write the changes of a version to a file atomically; writing again gives the same file."""
    with disk_errors("the changes", folder):
        disk.make_folders(folder, exported=True)
        path = folder / f"changes-{version:012d}.parquet"
        with disk.whole_new_file(path, exported=True) as file:
            pq.write_table(changes, file)


def _marked(folder: Path, consumer: str) -> dict[str, Any]:
    return {"graph": str(folder.resolve()), "consumer": consumer}


def _mark(to: str, consumer: str) -> Path:
    """The mark's file, whose name hides it from readers of all Parquet files."""
    return Path(to) / f".{folder_name(consumer)}.graphtide"


def _path(folder: Path, consumer: str) -> Path:
    return disk.below(folder, f"{CONSUMERS}/{folder_name(check_name(consumer, 'consumer'))}")

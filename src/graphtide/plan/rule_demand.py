"""Magic sets: derive of a relation only what is asked for, by the arguments that are known.

An atom of which some arguments are bound, by values or by what stands beside it in its body, is
replaced by one of a copy of its relation, `tc^bf`, whose rules begin with the *demand* `tc^bf?`:
the bound arguments that somebody asks for. The demand has rules of its own, from the bodies that
ask.

Which arguments to bind matters more than that some are. An argument that every recursive rule hands
on unchanged is *stable*: a demand for it never grows, and the copy derives facts of the full
relation alone. An argument that changes from step to step makes a demand that grows with the loop,
and may derive for each of many starts what a full run derives once. So stable arguments are bound
where there are some, and those alone. Without a query, only they are: nothing is lost then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from graphtide.plan import rules as r
from graphtide.plan.dataflow_expressions import Column, ColumnType, Constant, Expression, Operation
from graphtide.plan.rules import strata

Places = tuple[int, ...]
"""Which arguments of a relation are bound."""


def stable_places(relation: str, rules: Sequence[r.Rule]) -> Places:
    """The arguments that all rules of a relation hand on as they are, where they read it."""
    own = [rule for rule in rules if rule.head == relation]
    width = len(own[0].values) if own else 0
    places = []
    for place in range(width):
        pairs = [
            (rule.values[place], item.arguments[place])
            for rule in own
            for item in rule.body
            if isinstance(item, r.Match) and item.relation == relation
        ]
        if all(isinstance(value, Column) and value == argument for value, argument in pairs):
            places.append(place)
    return tuple(places)


def copied_name(relation: r.Relation, places: Places) -> str:
    """`tc^bf`: a letter a column, b where it is bound."""
    letters = "".join("b" if at in places else "f" for at in range(len(relation.columns)))
    return f"{relation.name}^{letters}"


def demand_of(
    relation: r.Relation, places: Places, values: Sequence[Expression], types: dict[str, ColumnType]
) -> list[r.Literal]:
    """The demand atom for a head, and tests for what the head computes."""
    arguments: list[r.Argument] = []
    tests: list[r.Literal] = []
    for place in places:
        value = values[place]
        if isinstance(value, Operation):
            variable = Column(f"?{place}")
            types[variable.name] = relation.columns[place][1]
            tests.append(r.Test(Operation("==", (variable, value))))
            value = variable
        arguments.append(value)
    return [r.Match(f"{copied_name(relation, places)}?", tuple(arguments)), *tests]


def bound_by(literals: Sequence[r.Literal]) -> set[str]:
    """The variables that literals bind, each with what it needs."""
    bound: set[str] = set()
    waiting = list(literals)
    while ready := [item for item in waiting if r.needs(item) <= bound]:
        for item in ready:
            bound |= r.gives(item)
        waiting = [item for item in waiting if item not in ready]
    return bound


def connected(literals: Sequence[r.Literal], wanted: set[str]) -> list[r.Literal]:
    """The literals that have to do with some variables: what shares none of them only multiplies.

    None where no variable is wanted: the demand is a fact.
    """
    known = set(wanted)
    reached: list[r.Literal] = []
    growing = True
    while growing:
        growing = False
        for item in literals:
            names = r.gives(item) | r.needs(item)
            if isinstance(item, r.Match) and item not in reached and names & known:
                reached.append(item)
                known |= names
                growing = True
            if isinstance(item, r.Assign) and item.variable in known and not names <= known:
                known |= names
                growing = True
    bound = bound_by(reached)
    rest = [item for item in literals if not isinstance(item, r.Match)]
    while ready := [item for item in rest if r.needs(item) <= bound and r.needs(item)]:
        reached += ready
        for item in ready:
            bound |= r.gives(item)
        rest = [item for item in rest if item not in ready]
    return [item for item in literals if item in reached]


def value_of(argument: r.Argument) -> Column | Constant:
    assert argument is not None
    return argument


def reached_relations(plan: r.RulePlan) -> dict[str, set[str]]:
    """The relations that each one reads, at any distance."""
    below: dict[str, set[str]] = {item.name: set() for item in plan.relations}
    for rule in plan.rules:
        below[rule.head] |= {name for name, _, _ in r.reads(rule.body)}
    changed = True
    while changed:
        changed = False
        for relations in below.values():
            more = {other for name in relations for other in below[name]}
            if not more <= relations:
                relations |= more
                changed = True
    return below


def demanded(
    plan: r.RulePlan, wanted: Sequence[str], given: Collection[str], *, asked: bool
) -> r.RulePlan:
    """A plan that derives the same facts of the wanted relations, and fewer of others.

    `given` relations are there already, and are read as they are. `asked` says that it is for a
    query, whose values are worth a demand that grows.
    """
    return _Demand(plan, wanted, given, asked=asked).plan()


class _Demand:
    def __init__(
        self, plan: r.RulePlan, wanted: Sequence[str], given: Collection[str], *, asked: bool
    ) -> None:
        self._plan = plan
        self._wanted = tuple(wanted)
        self._given = set(given)
        self._asked = asked
        names = [item.name for item in plan.relations]
        self._strata = {
            name: stratum for stratum in strata(names, plan.rules) for name in stratum.relations
        }
        self._reached = reached_relations(plan)
        negated = {name for rule in plan.rules for name, ok, _ in r.reads(rule.body) if not ok}
        self._plain = negated.union(*(self._reached[name] for name in negated))
        """What a negation or aggregate reads, at any distance: in full, and never by a demand,
        which could come to depend on that negation."""
        self._relations: dict[str, r.Relation] = {item.name: item for item in plan.relations}
        self._rules: list[r.Rule] = []
        self._waiting: list[tuple[str, Places]] = []
        self._seen: set[tuple[str, Places]] = set()

    def plan(self) -> r.RulePlan:
        for name in self._wanted:
            self._need(name, ())
        while self._waiting:
            name, places = self._waiting.pop(0)
            for rule in self._plan.rules:
                if rule.head == name:
                    self._rewrite(rule, places)
        rules = tuple(dict.fromkeys(self._rules))
        return replace(self._plan, relations=tuple(self._relations.values()), rules=rules)

    def _need(self, name: str, places: Places) -> None:
        if (name, places) in self._seen or (name in self._given and not places):
            self._seen.add((name, places))
            return
        self._seen.add((name, places))
        self._waiting.append((name, places))
        if places:
            relation = self._relations[name]
            copy = copied_name(relation, places)
            self._relations[copy] = replace(relation, name=copy)
            columns = tuple(relation.columns[place] for place in places)
            self._relations[f"{copy}?"] = r.Relation(f"{copy}?", columns)

    def _rewrite(self, rule: r.Rule, places: Places) -> None:
        """A rule of a relation, or of its copy that is bound in some places."""
        if rule.head in self._plain and not places:
            self._rules.append(rule)
            for name, _, _ in r.reads(rule.body):
                self._need(name, ())
            return
        relation = self._relations[rule.head]
        body: list[r.Literal] = []
        types = dict(rule.types)
        stable = self._stable(rule.head)
        recursive = any(isinstance(one, r.Match) and one.relation == rule.head for one in rule.body)
        settled = recursive and bool(places) and set(places) <= set(stable)
        if places and not settled:
            body += demand_of(relation, places, rule.values, types)
        start = len(body)
        atoms = [at for at, item in enumerate(rule.body) if isinstance(item, r.Match)]
        new = list(rule.body)
        in_full: set[int] = set()
        for at in atoms:
            atom = rule.body[at]
            assert isinstance(atom, r.Match)
            if at in in_full:
                self._need(atom.relation, ())
                continue
            if settled and atom.relation == rule.head:
                # A recursive atom that hands the demand on as it is.
                new[at] = r.Match(copied_name(relation, places), atom.arguments)
                continue
            others = [*body[:start], *self._beside(rule, new, at)]
            new[at] = self._asked_for(rule, places, atom, others, tuple(types.items()))
            if new[at] != atom:
                in_full |= {place for place in atoms if place > at and rule.body[place] in others}
        for name, monotone, _ in r.reads(rule.body):
            if not monotone:
                self._need(name, ())
        head = copied_name(relation, places) if places else rule.head
        order = rule.order
        if body and order is not None:
            # The demand comes before what the text puts into an order.
            order = (1, *(place + 1 for place in order))
        self._rules.append(
            replace(
                rule,
                head=head,
                body=(*body, *new),
                types=tuple(sorted(types.items())),
                order=order,
            )
        )

    def _beside(self, rule: r.Rule, body: Sequence[r.Literal], at: int) -> list[r.Literal]:
        """The literals of a body that may bind an atom: none that depends on the atom.

        In a loop, the atoms of the loop that stand before it may. What is derived and stands behind
        it would have to be derived in full, which is worth it without a query only.
        """
        atom = rule.body[at]
        assert isinstance(atom, r.Match)
        literals: list[r.Literal] = []
        for place, item in enumerate(body):
            original = rule.body[place]
            if isinstance(original, r.Match) and place != at:
                depends = atom.relation in self._reached[original.relation]
                same = self._together(original.relation, atom.relation)
                within = same and self._together(rule.head, atom.relation)
                before = place < at or not self._asked or not self._is_derived(original.relation)
                if (before and not depends) or (within and place < at):
                    literals.append(item)
            elif isinstance(original, r.Assign | r.Test):
                literals.append(item)
        return literals

    def _asked_for(
        self,
        rule: r.Rule,
        head_places: Places,
        atom: r.Match,
        others: list[r.Literal],
        types: r.Types,
    ) -> r.Match:
        """An atom of a copy, with a rule for the demand; itself where nothing is to be gained."""
        if not self._is_derived(atom.relation):
            return atom
        bound = bound_by(others)
        available = tuple(
            place
            for place, item in enumerate(atom.arguments)
            if isinstance(item, Constant) or (isinstance(item, Column) and item.name in bound)
        )
        places = self._chosen(rule, head_places, atom, available)
        self._need(atom.relation, places)
        if not places:
            return atom
        relation = self._relations[atom.relation]
        copy = copied_name(relation, places)
        values = tuple(value_of(atom.arguments[place]) for place in places)
        body = connected(others, {name for item in values for name in r.variables_of(item)})
        demand = f"{copy}?"
        is_itself = len(body) == 1 and body[0] == r.Match(demand, values)
        if not is_itself:
            known = dict(types)
            used = {name for item in body for name in r.gives(item) | r.needs(item)}
            own = tuple(sorted((name, known[name]) for name in used if name in known))
            self._rules.append(
                r.Rule(demand, values, tuple(body), own, None, f"demand for {copy}", rule.line)
            )
        return r.Match(copy, atom.arguments)

    def _chosen(
        self, rule: r.Rule, head_places: Places, atom: r.Match, available: Places
    ) -> Places:
        relation = self._relations[atom.relation]
        if relation.best is not None:
            available = tuple(one for one in available if one < len(relation.columns) - 1)
        if not available or self._is_mixed(atom.relation):
            return ()
        if self._together(rule.head, atom.relation):
            same = rule.head == atom.relation and head_places and set(head_places) <= set(available)
            if same:
                return head_places
            return available if self._asked and head_places else ()
        stable = tuple(one for one in self._stable(atom.relation) if one in available)
        if self._asked:
            return stable or available
        return stable if self._worth(atom.relation) else ()

    def _worth(self, name: str) -> bool:
        """Without a query: a loop that one atom alone reads, and that nobody reads in full."""
        if not self._strata[name].recursive or name in self._wanted:
            return False
        uses = [
            rule.head
            for rule in self._plan.rules
            if not self._together(rule.head, name)
            for other, _, _ in r.reads(rule.body)
            if other == name
        ]
        return len(uses) == 1 and self._in_use(uses[0])

    def _in_use(self, name: str) -> bool:
        return any(name in self._reached[one] or name == one for one in self._wanted)

    def _stable(self, name: str) -> Places:
        stratum = self._strata[name]
        if len(stratum.relations) > 1 or not stratum.recursive:
            return ()
        return stable_places(name, self._plan.rules)

    def _is_derived(self, name: str) -> bool:
        """Whether rules derive the relation, and its facts are not given."""
        return name not in self._given and any(one.head == name for one in self._plan.rules)

    def _is_mixed(self, name: str) -> bool:
        """Whether facts are given and others derived: a copy would lack the given ones."""
        return name in dict(self._plan.facts) or any(
            item.relation == name for item in self._plan.inputs
        )

    def _together(self, one: str, other: str) -> bool:
        return other in self._strata[one].relations

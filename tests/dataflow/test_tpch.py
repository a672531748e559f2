"""The queries of TPC-H on tiny tables that change: beside plain Python, and from scratch."""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from examples.tpch import QUERIES, Tables
from examples.tpch.tables import COLUMNS
from graphtide.dataflow import Dataflow
from tests.dataflow.building import MEMORY

pytestmark = pytest.mark.compiled
Row = dict[str, Any]
SEED = 73
"""With these tables no query is empty at first."""
DAYS = [datetime.date(1992, 6, 1) + datetime.timedelta(days=53 * n) for n in range(45)]
NATIONS = ("FRANCE", "GERMANY", "BRAZIL", "CANADA", "SAUDI ARABIA", "JAPAN")
REGIONS = ("EUROPE", "ASIA", "AMERICA")
PHONES = ("13-1", "31-2", "99-3", "17-4")


class Generator:
    """Tables in which every condition of every query is met now and then."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.tables: dict[str, list[Row]] = {name: [] for name in COLUMNS}

    def fill(self) -> dict[str, list[Row]]:
        """All tables."""
        tables, pick = self.tables, self.random.choice
        tables["region"] = [{"r_regionkey": n, "r_name": name} for n, name in enumerate(REGIONS)]
        tables["nation"] = [
            {"n_nationkey": n, "n_name": name, "n_regionkey": n % 3}
            for n, name in enumerate(NATIONS)
        ]
        for key in range(12):
            nation = self.random.randrange(len(NATIONS))
            comment = pick(("fine", "Customer has Complaints", "Customer Complaints"))
            tables["supplier"].append(self._person("s_suppkey", key, nation, comment))
            tables["customer"].append(
                self._person("c_custkey", key, nation, "none")
                | {"c_mktsegment": pick(("BUILDING", "AUTO"))}
            )
        for key in range(10):
            tables["part"].append(self._part(key))
            for supplier in self.random.sample(range(12), 4):
                cost, stock = self._money(40), self.random.randrange(1, 90)
                row = (key, supplier, stock, cost)
                tables["partsupp"].append(dict(zip(COLUMNS["partsupp"], row, strict=True)))
        for key in range(60):
            self.order(key)
        return tables

    def order(self, key: int) -> None:
        """One more order with its lines."""
        day, pick = self.random.choice(DAYS), self.random.choice
        row = (
            *(key, self.random.randrange(9), pick("FO"), self._money(900), day),
            *(pick(("1-URGENT", "2-HIGH", "5-LOW")), 0, pick(("special x requests", "y"))),
        )
        self.tables["orders"].append(dict(zip(COLUMNS["orders"], row, strict=True)))
        for _ in range(self.random.randint(1, 4)):
            self.tables["lineitem"].append(self._line(key, day))

    def _line(self, order: int, day: datetime.date) -> Row:
        offer, pick = self.random.choice(self.tables["partsupp"]), self.random.choice
        days = [day + datetime.timedelta(days=self.random.randrange(1, 90)) for _ in range(3)]
        row = (
            *(order, offer["ps_partkey"], offer["ps_suppkey"]),
            *(Decimal(pick((1, 5, 15, 25, 200))), self._money(900)),
            *(Decimal(pick((0, 5, 6, 7))) / 100, Decimal(pick((0, 8))) / 100),
            *(pick("RNA"), pick("FO"), *days, pick(("DELIVER IN PERSON", "NONE"))),
            pick(("MAIL", "SHIP", "AIR", "AIR REG")),
        )
        return dict(zip(COLUMNS["lineitem"], row, strict=True))

    def _part(self, key: int) -> Row:
        pick = self.random.choice
        kinds = ("PROMO BRASS", "ECONOMY ANODIZED STEEL", "MEDIUM POLISHED TIN", "LARGE BRASS")
        brands, boxes = ("Brand#12", "Brand#23", "Brand#45"), ("SM BOX", "MED BOX", "MED BAG")
        names = ("forest green", "dark green", "forest")
        row = (key, pick(names), "m", pick(brands), pick(kinds), pick((3, 9, 15)), pick(boxes))
        return dict(zip(COLUMNS["part"], row, strict=True))

    def _person(self, column: str, key: int, nation: int, comment: str) -> Row:
        first = column[0]
        named = {"name": f"{column} {key}", "address": f"at {key}", "nationkey": nation}
        more = {"phone": self.random.choice(PHONES), "acctbal": self._money(500) - 100}
        rest = {**named, **more, "comment": comment}
        return {column: key} | {f"{first}_{name}": value for name, value in rest.items()}

    def _money(self, most: int) -> Decimal:
        return Decimal(self.random.randrange(100 * most)) / 100


def answers(number: int, tables: dict[str, list[Row]]) -> dict[Any, int]:
    """The query from scratch."""
    flow = Dataflow(memory=MEMORY, once=True)
    inputs = Tables(flow)
    output = QUERIES[number](inputs).output()
    for name, rows in tables.items():
        getattr(inputs, name).insert([tuple(row[c] for c in COLUMNS[name]) for row in rows])
    flow.advance()
    found: dict[Any, int] = output.records()
    flow.host.end()
    return found


@pytest.mark.parametrize("number", QUERIES)
def test_queries_follow_orders_that_come_and_go(number: int) -> None:
    """After every batch the maintained answer is what a fresh run and, if there, Python say."""
    made = Generator(SEED)
    tables = made.fill()
    flow = Dataflow(memory=MEMORY)
    inputs = Tables(flow)
    output = QUERIES[number](inputs).output()
    before: dict[str, list[Row]] = {name: [] for name in tables}
    for step in range(4):
        if step:
            gone = set(made.random.sample([row["o_orderkey"] for row in tables["orders"]], 12))
            for name, column in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
                tables[name] = [row for row in tables[name] if row[column] not in gone]
            for key in range(100 * step, 100 * step + 8):
                made.order(key)
        for name, rows in tables.items():
            kept = [row for row in rows if row in before[name]]
            _feed(inputs, name, [row for row in before[name] if row not in kept], -1)
            _feed(inputs, name, [row for row in rows if row not in before[name]], 1)
            before[name] = list(rows)
        flow.advance()
        found = output.records()
        assert found == answers(number, tables)
        assert found or step
        if number in PLAIN:
            assert sorted(found) == sorted(PLAIN[number](tables))
    flow.host.end()


def _feed(inputs: Tables, name: str, rows: list[Row], diff: int) -> None:
    if rows:
        listed = [tuple(row[column] for column in COLUMNS[name]) for row in rows]
        getattr(inputs, name).update(listed, [diff] * len(rows))


def _price(line: Row) -> Decimal:
    return line["l_extendedprice"] * (1 - line["l_discount"])  # type: ignore[no-any-return]


def _forecast(tables: dict[str, list[Row]]) -> list[Any]:
    chosen = [
        line["l_extendedprice"] * line["l_discount"]
        for line in tables["lineitem"]
        if line["l_shipdate"].year == 1994
        and Decimal("0.05") <= line["l_discount"] <= Decimal("0.07")
        and line["l_quantity"] < 24
    ]
    return [(sum(chosen),)] if chosen else []


def _distribution(tables: dict[str, list[Row]]) -> list[Any]:
    counts: dict[int, int] = {}
    for customer in tables["customer"]:
        orders = [
            order
            for order in tables["orders"]
            if order["o_custkey"] == customer["c_custkey"] and order["o_comment"] == "y"
        ]
        counts[len(orders)] = counts.get(len(orders), 0) + 1
    return list(counts.items())


def _top_supplier(tables: dict[str, list[Row]]) -> list[Any]:
    revenue: dict[int, Decimal] = {}
    for line in tables["lineitem"]:
        if datetime.date(1996, 1, 1) <= line["l_shipdate"] < datetime.date(1996, 4, 1):
            key = line["l_suppkey"]
            revenue[key] = revenue.get(key, Decimal(0)) + _price(line)
    return [
        (s["s_suppkey"], s["s_name"], s["s_address"], s["s_phone"], revenue[s["s_suppkey"]])
        for s in tables["supplier"]
        if s["s_suppkey"] in revenue and revenue[s["s_suppkey"]] == max(revenue.values())
    ]


def _waiting(tables: dict[str, list[Row]]) -> list[Any]:
    lines, names = tables["lineitem"], {s["s_suppkey"]: s for s in tables["supplier"]}
    status = {order["o_orderkey"]: order["o_orderstatus"] for order in tables["orders"]}
    found: dict[str, int] = {}
    for line in lines:
        others = [
            other
            for other in lines
            if other["l_orderkey"] == line["l_orderkey"] and other["l_suppkey"] != line["l_suppkey"]
        ]
        seller = names[line["l_suppkey"]]
        if (
            _is_late(line)
            and others
            and not any(map(_is_late, others))
            and status[line["l_orderkey"]] == "F"
            and NATIONS[seller["s_nationkey"]] == "SAUDI ARABIA"
        ):
            found[seller["s_name"]] = found.get(seller["s_name"], 0) + 1
    return list(found.items())


def _is_late(line: Row) -> bool:
    return bool(line["l_receiptdate"] > line["l_commitdate"])


def _opportunity(tables: dict[str, list[Row]]) -> list[Any]:
    codes = ("13", "31", "23", "29", "30", "18", "17")
    chosen = [c for c in tables["customer"] if c["c_phone"][:2] in codes]
    positive = [c["c_acctbal"] for c in chosen if c["c_acctbal"] > 0]
    ordered = {order["o_custkey"] for order in tables["orders"]}
    found: dict[str, list[Decimal]] = {}
    for customer in chosen:
        rich = positive and customer["c_acctbal"] > sum(positive) / len(positive)
        if rich and customer["c_custkey"] not in ordered:
            found.setdefault(customer["c_phone"][:2], []).append(customer["c_acctbal"])
    return [(code, len(held), sum(held)) for code, held in found.items()]


PLAIN = {6: _forecast, 13: _distribution, 15: _top_supplier, 21: _waiting, 22: _opportunity}

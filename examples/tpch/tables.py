"""The eight tables of TPC-H as inputs of a dataflow."""

from __future__ import annotations

import datetime
from typing import Any

from graphtide.dataflow import Collection, Dataflow, InputCollection, col, decimal

MONEY = decimal(2)
COLUMNS: dict[str, dict[str, Any]] = {
    "region": {"r_regionkey": int, "r_name": str},
    "nation": {"n_nationkey": int, "n_name": str, "n_regionkey": int},
    "supplier": {
        "s_suppkey": int,
        "s_name": str,
        "s_address": str,
        "s_nationkey": int,
        "s_phone": str,
        "s_acctbal": MONEY,
        "s_comment": str,
    },
    "customer": {
        "c_custkey": int,
        "c_name": str,
        "c_address": str,
        "c_nationkey": int,
        "c_phone": str,
        "c_acctbal": MONEY,
        "c_mktsegment": str,
        "c_comment": str,
    },
    "part": {
        "p_partkey": int,
        "p_name": str,
        "p_mfgr": str,
        "p_brand": str,
        "p_type": str,
        "p_size": int,
        "p_container": str,
    },
    "partsupp": {
        "ps_partkey": int,
        "ps_suppkey": int,
        "ps_availqty": int,
        "ps_supplycost": MONEY,
    },
    "orders": {
        "o_orderkey": int,
        "o_custkey": int,
        "o_orderstatus": str,
        "o_totalprice": MONEY,
        "o_orderdate": datetime.date,
        "o_orderpriority": str,
        "o_shippriority": int,
        "o_comment": str,
    },
    "lineitem": {
        "l_orderkey": int,
        "l_partkey": int,
        "l_suppkey": int,
        "l_quantity": MONEY,
        "l_extendedprice": MONEY,
        "l_discount": MONEY,
        "l_tax": MONEY,
        "l_returnflag": str,
        "l_linestatus": str,
        "l_shipdate": datetime.date,
        "l_commitdate": datetime.date,
        "l_receiptdate": datetime.date,
        "l_shipinstruct": str,
        "l_shipmode": str,
    },
}
"""Columns that queries read."""


class Tables:
    """The inputs of one dataflow, by name."""

    region: InputCollection
    nation: InputCollection
    supplier: InputCollection
    customer: InputCollection
    part: InputCollection
    partsupp: InputCollection
    orders: InputCollection
    lineitem: InputCollection

    def __init__(self, flow: Dataflow) -> None:
        for name, columns in COLUMNS.items():
            setattr(self, name, flow.input(name, **columns))


def limited(source: Collection, count: int, *order: str) -> Collection:
    """The first records by some columns: `-revenue` is from the greatest down."""
    by: dict[str, Any] = {
        f"by_{place}": -col[name[1:]] if name.startswith("-") else col[name]
        for place, name in enumerate(order)
    }
    kept: dict[str, Any] = {name: col[name] for name in source.names}
    return source.map(**by, **kept).first(count, by=(), of=[*by, *kept]).select(*kept)

"""Queries 1 to 11."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from examples.tpch.tables import Tables, limited
from graphtide.dataflow import Collection, col, count, mean, total, where

PRICE = col.l_extendedprice * (1 - col.l_discount)
"""What is paid for a line, without tax."""


def pricing_summary(t: Tables) -> Collection:
    """Q1: what was shipped, by state."""
    shipped = t.lineitem.filter(col.l_shipdate <= date(1998, 9, 2))
    return shipped.aggregate(
        ["l_returnflag", "l_linestatus"],
        sum_qty=total("l_quantity"),
        sum_base_price=total("l_extendedprice"),
        sum_disc_price=total(PRICE),
        sum_charge=total(PRICE * (1 + col.l_tax)),
        avg_qty=mean("l_quantity"),
        avg_price=mean("l_extendedprice"),
        avg_disc=mean("l_discount"),
        count_order=count(),
    )


def minimum_cost_supplier(t: Tables) -> Collection:
    """Q2: who sells a part for least, of the suppliers of a region."""
    region = t.region.filter(col.r_name == "EUROPE")
    nations = t.nation.semijoin(region, on={"n_regionkey": "r_regionkey"})
    suppliers = t.supplier.join(nations, on={"s_nationkey": "n_nationkey"})
    parts = t.part.filter((col.p_size == 15) & col.p_type.like("%BRASS"))
    offers = t.partsupp.join(parts, on={"ps_partkey": "p_partkey"}).join(
        suppliers, on={"ps_suppkey": "s_suppkey"}
    )
    least = offers.min(by="ps_partkey", of="ps_supplycost")
    best = offers.semijoin(least, on=["ps_partkey", "ps_supplycost"]).select(
        "s_acctbal",
        "s_name",
        "n_name",
        "p_mfgr",
        "s_address",
        "s_phone",
        "s_comment",
        p_partkey="ps_partkey",
    )
    listed = best.select(
        *("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr"),
        *("s_address", "s_phone", "s_comment"),
    )
    return limited(listed, 100, "-s_acctbal", "n_name", "s_name", "p_partkey")


def shipping_priority(t: Tables) -> Collection:
    """Q3: the orders of a segment that are worth most and not shipped yet."""
    day = date(1995, 3, 15)
    customers = t.customer.filter(col.c_mktsegment == "BUILDING")
    orders = t.orders.filter(col.o_orderdate < day).semijoin(
        customers, on={"o_custkey": "c_custkey"}
    )
    lines = t.lineitem.filter(col.l_shipdate > day)
    revenue = lines.join(orders, on={"l_orderkey": "o_orderkey"}).aggregate(
        ["l_orderkey", "o_orderdate", "o_shippriority"], revenue=total(PRICE)
    )
    listed = revenue.select("l_orderkey", "revenue", "o_orderdate", "o_shippriority")
    return limited(listed, 10, "-revenue", "o_orderdate")


def order_priority(t: Tables) -> Collection:
    """Q4: orders of a quarter with a line that came late, by priority."""
    late = t.lineitem.filter(col.l_commitdate < col.l_receiptdate)
    orders = t.orders.filter(
        (col.o_orderdate >= date(1993, 7, 1)) & (col.o_orderdate < date(1993, 10, 1))
    )
    return orders.semijoin(late, on={"o_orderkey": "l_orderkey"}).aggregate(
        "o_orderpriority", order_count=count()
    )


def local_supplier_volume(t: Tables) -> Collection:
    """Q5: revenue of a year by nation, where customer and supplier are of the same."""
    region = t.region.filter(col.r_name == "ASIA")
    nations = t.nation.semijoin(region, on={"n_regionkey": "r_regionkey"})
    orders = t.orders.filter(
        (col.o_orderdate >= date(1994, 1, 1)) & (col.o_orderdate < date(1995, 1, 1))
    ).join(t.customer, on={"o_custkey": "c_custkey"})
    sold = t.lineitem.join(orders, on={"l_orderkey": "o_orderkey"}).semijoin(
        t.supplier, on={"l_suppkey": "s_suppkey", "c_nationkey": "s_nationkey"}
    )
    named = sold.join(nations, on={"c_nationkey": "n_nationkey"})
    return named.aggregate("n_name", revenue=total(PRICE))


def revenue_forecast(t: Tables) -> Collection:
    """Q6: what some discounts cost in a year."""
    lines = t.lineitem.filter(
        (col.l_shipdate >= date(1994, 1, 1))
        & (col.l_shipdate < date(1995, 1, 1))
        & col.l_discount.between(Decimal("0.05"), Decimal("0.07"))
        & (col.l_quantity < 24)
    )
    return lines.aggregate((), revenue=total(col.l_extendedprice * col.l_discount))


def volume_shipping(t: Tables) -> Collection:
    """Q7: trade between two nations, by year."""
    nations = t.nation.filter(col.n_name.among("FRANCE", "GERMANY"))
    sellers = t.supplier.join(nations, on={"s_nationkey": "n_nationkey"}).select(
        "s_suppkey", supp_nation="n_name"
    )
    buyers = t.customer.join(nations, on={"c_nationkey": "n_nationkey"}).select(
        "c_custkey", cust_nation="n_name"
    )
    orders = t.orders.join(buyers, on={"o_custkey": "c_custkey"})
    lines = t.lineitem.filter(col.l_shipdate.between(date(1995, 1, 1), date(1996, 12, 31)))
    traded = (
        lines.join(orders, on={"l_orderkey": "o_orderkey"})
        .join(sellers, on={"l_suppkey": "s_suppkey"})
        .filter(col.supp_nation != col.cust_nation)
    )
    return traded.map(
        supp_nation=col.supp_nation,
        cust_nation=col.cust_nation,
        l_year=col.l_shipdate.year(),
        volume=PRICE,
    ).sum("volume", by=["supp_nation", "cust_nation", "l_year"], name="revenue")


def market_share(t: Tables) -> Collection:
    """Q8: the share of a nation in the trade of a region, by year."""
    region = t.region.filter(col.r_name == "AMERICA")
    nations = t.nation.semijoin(region, on={"n_regionkey": "r_regionkey"})
    buyers = t.customer.semijoin(nations, on={"c_nationkey": "n_nationkey"})
    orders = t.orders.filter(
        col.o_orderdate.between(date(1995, 1, 1), date(1996, 12, 31))
    ).semijoin(buyers, on={"o_custkey": "c_custkey"})
    parts = t.part.filter(col.p_type == "ECONOMY ANODIZED STEEL")
    sellers = t.supplier.join(t.nation, on={"s_nationkey": "n_nationkey"})
    sold = (
        t.lineitem.semijoin(parts, on={"l_partkey": "p_partkey"})
        .join(orders, on={"l_orderkey": "o_orderkey"})
        .join(sellers, on={"l_suppkey": "s_suppkey"})
    )
    years = sold.map(o_year=col.o_orderdate.year(), n_name=col.n_name, volume=PRICE).aggregate(
        "o_year",
        part=total(where(col.n_name == "BRAZIL", col.volume, Decimal("0.0000"))),
        whole=total("volume"),
    )
    return years.map(o_year=col.o_year, mkt_share=col.part / col.whole)


def product_type_profit(t: Tables) -> Collection:
    """Q9: profit with parts of a colour, by nation and year."""
    parts = t.part.filter(col.p_name.contains("green"))
    sellers = t.supplier.join(t.nation, on={"s_nationkey": "n_nationkey"})
    sold = (
        t.lineitem.semijoin(parts, on={"l_partkey": "p_partkey"})
        .join(t.partsupp, on={"l_partkey": "ps_partkey", "l_suppkey": "ps_suppkey"})
        .join(t.orders, on={"l_orderkey": "o_orderkey"})
        .join(sellers, on={"l_suppkey": "s_suppkey"})
    )
    return sold.map(
        nation=col.n_name,
        o_year=col.o_orderdate.year(),
        amount=PRICE - col.ps_supplycost * col.l_quantity,
    ).sum("amount", by=["nation", "o_year"], name="sum_profit")


def returned_items(t: Tables) -> Collection:
    """Q10: the customers of a quarter who sent back most."""
    orders = t.orders.filter(
        (col.o_orderdate >= date(1993, 10, 1)) & (col.o_orderdate < date(1994, 1, 1))
    )
    returned = t.lineitem.filter(col.l_returnflag == "R").join(
        orders, on={"l_orderkey": "o_orderkey"}
    )
    lost = returned.aggregate("o_custkey", revenue=total(PRICE))
    named = t.customer.join(lost, on={"c_custkey": "o_custkey"}).join(
        t.nation, on={"c_nationkey": "n_nationkey"}
    )
    listed = named.select(
        *("c_custkey", "c_name", "revenue", "c_acctbal", "n_name"),
        *("c_address", "c_phone", "c_comment"),
    )
    return limited(listed, 20, "-revenue")


def important_stock(t: Tables) -> Collection:
    """Q11: parts that make up more than a ten-thousandth of the stock of a nation."""
    nation = t.nation.filter(col.n_name == "GERMANY")
    sellers = t.supplier.semijoin(nation, on={"s_nationkey": "n_nationkey"})
    stock = t.partsupp.semijoin(sellers, on={"ps_suppkey": "s_suppkey"})
    cost = col.ps_supplycost * col.ps_availqty
    parts = stock.aggregate("ps_partkey", value=total(cost))
    whole = stock.aggregate((), whole=total(cost))
    large = parts.join_where(whole, col.value > col.whole * Decimal("0.0001"))
    return large.select("ps_partkey", "value")


FIRST = {
    1: pricing_summary,
    2: minimum_cost_supplier,
    3: shipping_priority,
    4: order_priority,
    5: local_supplier_volume,
    6: revenue_forecast,
    7: volume_shipping,
    8: market_share,
    9: product_type_profit,
    10: returned_items,
    11: important_stock,
}

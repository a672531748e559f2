"""Queries 12 to 22."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from examples.tpch.first_queries import PRICE
from examples.tpch.tables import Tables, limited
from graphtide.dataflow import Collection, col, count, count_distinct, mean, total, where


def shipping_modes(t: Tables) -> Collection:
    """Q12: whether cheaper ways of shipping make urgent orders late."""
    lines = t.lineitem.filter(
        col.l_shipmode.among("MAIL", "SHIP")
        & (col.l_commitdate < col.l_receiptdate)
        & (col.l_shipdate < col.l_commitdate)
        & (col.l_receiptdate >= date(1994, 1, 1))
        & (col.l_receiptdate < date(1995, 1, 1))
    )
    urgent = col.o_orderpriority.among("1-URGENT", "2-HIGH")
    return lines.join(t.orders, on={"l_orderkey": "o_orderkey"}).aggregate(
        "l_shipmode",
        high_line_count=total(where(urgent, 1, 0)),
        low_line_count=total(where(urgent, 0, 1)),
    )


def customer_distribution(t: Tables) -> Collection:
    """Q13: how many customers have how many orders, those with none included."""
    orders = t.orders.filter(~col.o_comment.like("%special%requests%"))
    counts = t.customer.left_join(orders, on={"c_custkey": "o_custkey"}).aggregate(
        "c_custkey", c_count=count("o_orderkey")
    )
    return counts.aggregate("c_count", custdist=count())


def promotion_effect(t: Tables) -> Collection:
    """Q14: how much of a month's revenue is of promotions, in per cent."""
    lines = t.lineitem.filter(
        (col.l_shipdate >= date(1995, 9, 1)) & (col.l_shipdate < date(1995, 10, 1))
    ).join(t.part, on={"l_partkey": "p_partkey"})
    promoted = where(col.p_type.starts_with("PROMO"), PRICE, Decimal("0.0000"))
    sums = lines.aggregate((), promoted=total(promoted), whole=total(PRICE))
    return sums.map(promo_revenue=100.0 * (col.promoted / col.whole))


def top_supplier(t: Tables) -> Collection:
    """Q15: the supplier with the greatest revenue of a quarter."""
    lines = t.lineitem.filter(
        (col.l_shipdate >= date(1996, 1, 1)) & (col.l_shipdate < date(1996, 4, 1))
    )
    revenue = lines.aggregate("l_suppkey", total_revenue=total(PRICE))
    most = revenue.max(by=(), of="total_revenue")
    best = revenue.semijoin(most, on="total_revenue")
    return t.supplier.join(best, on={"s_suppkey": "l_suppkey"}).select(
        "s_suppkey", "s_name", "s_address", "s_phone", "total_revenue"
    )


def parts_and_suppliers(t: Tables) -> Collection:
    """Q16: how many suppliers without complaints offer parts of some kinds."""
    parts = t.part.filter(
        (col.p_brand != "Brand#45")
        & ~col.p_type.starts_with("MEDIUM POLISHED")
        & col.p_size.among(49, 14, 23, 45, 19, 3, 36, 9)
    )
    complained = t.supplier.filter(col.s_comment.like("%Customer%Complaints%"))
    offers = t.partsupp.antijoin(complained, on={"ps_suppkey": "s_suppkey"})
    return offers.join(parts, on={"ps_partkey": "p_partkey"}).aggregate(
        ["p_brand", "p_type", "p_size"], supplier_cnt=count_distinct("ps_suppkey")
    )


def small_quantities(t: Tables) -> Collection:
    """Q17: revenue a year that is lost where small orders of a part are not taken."""
    parts = t.part.filter((col.p_brand == "Brand#23") & (col.p_container == "MED BOX"))
    lines = t.lineitem.semijoin(parts, on={"l_partkey": "p_partkey"})
    usual = lines.aggregate("l_partkey", usual=mean("l_quantity"))
    small = lines.join(usual, on="l_partkey").filter(col.l_quantity < 0.2 * col.usual)
    lost = small.aggregate((), lost=total("l_extendedprice"))
    return lost.map(avg_yearly=col.lost / 7.0)


def large_orders(t: Tables) -> Collection:
    """Q18: the largest orders, by quantity, and whose they are."""
    large = t.lineitem.aggregate("l_orderkey", quantity=total("l_quantity")).filter(
        col.quantity > 300
    )
    orders = t.orders.join(large, on={"o_orderkey": "l_orderkey"})
    listed = orders.join(t.customer, on={"o_custkey": "c_custkey"}).select(
        *("c_name", "o_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "quantity")
    )
    return limited(listed, 100, "-o_totalprice", "o_orderdate")


def discounted_revenue(t: Tables) -> Collection:
    """Q19: revenue of parts that are shipped by air in one of three ways."""
    lines = t.lineitem.filter(
        col.l_shipmode.among("AIR", "AIR REG") & (col.l_shipinstruct == "DELIVER IN PERSON")
    ).join(t.part, on={"l_partkey": "p_partkey"})
    small = col.p_container.among("SM CASE", "SM BOX", "SM PACK", "SM PKG")
    medium = col.p_container.among("MED BAG", "MED BOX", "MED PKG", "MED PACK")
    large = col.p_container.among("LG CASE", "LG BOX", "LG PACK", "LG PKG")
    chosen = lines.filter(
        ((col.p_brand == "Brand#12") & small & _sizes(1, 11, 5))
        | ((col.p_brand == "Brand#23") & medium & _sizes(10, 20, 10))
        | ((col.p_brand == "Brand#34") & large & _sizes(20, 30, 15))
    )
    return chosen.aggregate((), revenue=total(PRICE))


def _sizes(least: int, most: int, size: int) -> Any:
    return col.l_quantity.between(least, most) & col.p_size.between(1, size)


def part_promotion(t: Tables) -> Collection:
    """Q20: suppliers of a nation with more than half a year's sales of a part in stock."""
    parts = t.part.filter(col.p_name.starts_with("forest"))
    sold = (
        t.lineitem.filter(
            (col.l_shipdate >= date(1994, 1, 1)) & (col.l_shipdate < date(1995, 1, 1))
        )
        .semijoin(parts, on={"l_partkey": "p_partkey"})
        .aggregate(["l_partkey", "l_suppkey"], quantity=total("l_quantity"))
    )
    stock = t.partsupp.join(sold, on={"ps_partkey": "l_partkey", "ps_suppkey": "l_suppkey"})
    much = stock.filter(col.ps_availqty > col.quantity * Decimal("0.5"))
    nation = t.nation.filter(col.n_name == "CANADA")
    sellers = t.supplier.semijoin(nation, on={"s_nationkey": "n_nationkey"})
    return sellers.semijoin(much, on={"s_suppkey": "ps_suppkey"}).select("s_name", "s_address")


def waiting_suppliers(t: Tables) -> Collection:
    """Q21: suppliers who alone kept an order of several waiting."""
    late = t.lineitem.filter(col.l_receiptdate > col.l_commitdate)
    several = t.lineitem.aggregate("l_orderkey", n=count_distinct("l_suppkey")).filter(col.n > 1)
    alone = late.aggregate("l_orderkey", n=count_distinct("l_suppkey")).filter(col.n == 1)
    done = t.orders.filter(col.o_orderstatus == "F")
    nation = t.nation.filter(col.n_name == "SAUDI ARABIA")
    sellers = t.supplier.semijoin(nation, on={"s_nationkey": "n_nationkey"})
    waiting = (
        late.semijoin(several, on="l_orderkey")
        .semijoin(alone, on="l_orderkey")
        .semijoin(done, on={"l_orderkey": "o_orderkey"})
        .join(sellers, on={"l_suppkey": "s_suppkey"})
    )
    return limited(waiting.aggregate("s_name", numwait=count()), 100, "-numwait", "s_name")


def sales_opportunity(t: Tables) -> Collection:
    """Q22: customers with more than the usual balance who have not ordered, by country."""
    codes = ("13", "31", "23", "29", "30", "18", "17")
    customers = t.customer.map(
        c_custkey=col.c_custkey, c_acctbal=col.c_acctbal, cntrycode=col.c_phone.substr(0, 2)
    ).filter(col.cntrycode.among(*codes))
    usual = customers.filter(col.c_acctbal > 0).aggregate((), usual=mean("c_acctbal"))
    rich = customers.join_where(usual, col.c_acctbal > col.usual)
    without = rich.antijoin(t.orders, on={"c_custkey": "o_custkey"})
    return without.aggregate("cntrycode", numcust=count(), totacctbal=total("c_acctbal"))


MORE = {
    12: shipping_modes,
    13: customer_distribution,
    14: promotion_effect,
    15: top_supplier,
    16: parts_and_suppliers,
    17: small_quantities,
    18: large_orders,
    19: discounted_revenue,
    20: part_promotion,
    21: waiting_suppliers,
    22: sales_opportunity,
}

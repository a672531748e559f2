from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from graphtide.spark.session import active_session, open_session, private_session

pytestmark = [pytest.mark.spark, pytest.mark.masters]


def test_the_running_session_is_handed_out_again(spark: SparkSession) -> None:
    assert open_session("local[1]") is not None
    assert active_session() is not None
    assert open_session("local[1]").range(3).count() == 3


def test_a_private_session_leaves_the_users_settings_alone(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        private = private_session(spark)
        text = F.timestamp_seconds(F.lit(0)).cast("string")
        assert private.range(1).select(text).first()[0] == "1970-01-01 00:00:00"
        assert spark.range(1).select(text).first()[0] == "1970-01-01 09:00:00"
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)

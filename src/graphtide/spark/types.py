"""Spark's types as the rest of Graphtide names them: PySpark itself is imported in this package."""

from pyspark.sql import DataFrame, SparkSession

__all__ = ["DataFrame", "SparkSession"]

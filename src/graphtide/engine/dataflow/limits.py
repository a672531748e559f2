"""What a run of the machine can meet that no dataflow goes on from, as errors of ours."""

from __future__ import annotations

from graphtide.kernels.dataflow.diffs import TOO_OFTEN
from graphtide.model.errors import GraphtideError, LimitError


def limit_of(error: Exception, size: int) -> LimitError:
    """What a kernel raised, as an error that says what to do; `size` is how many bytes it has."""
    if isinstance(error, MemoryError):
        return LimitError(
            "The dataflow needs more memory than it was given",
            where=f"{size:,} bytes are full",
            hint="give the dataflow a larger `memory`, or feed it smaller batches",
        )
    if isinstance(error, OverflowError):
        return LimitError(
            "A loop of the dataflow went round too often: it does not seem to come to rest",
            hint="a loop that does not come to rest needs a filter, or a bound on its rounds, "
            "as in variable.set(..., rounds=10); for one that does, give the dataflow a larger "
            "`most_rounds`, or nest its loops less deeply, which lets them count further",
        )
    if str(error) == TOO_OFTEN:
        return LimitError(
            "Records of the dataflow are there too often: a multiplicity, or one times a number "
            "that is added up, would be 2^62 or more",
            hint="joins multiply multiplicities: call distinct() before those that do not need "
            "them, or count records first",
        )
    return LimitError(
        f"A number of the dataflow does not fit into 64 bits: {error}",
        hint="sums of ints and decimals, and decimals themselves, are exact or an error: "
        "convert what is so large with as_float()",
    )


def stranded() -> GraphtideError:
    """The schedule has made a promise that it did not keep."""
    return GraphtideError(
        "Rows wait for an operator that has run already: its results would be late",
        hint="this is a mistake in Graphtide: please report it with the dataflow",
    )

"""What others took, in milliseconds a batch of 1+0, 25+25, 500+500 and 50,000+50,000 edges.

One worker on two cores of the kind that we use, RMAT graphs with nine tenths of the edges loaded
first, each system measured by itself: Differential Dataflow, GraphBolt with its KickStarter, and
a rough prototype of our exact mode.
"""

from __future__ import annotations

DIFFERENTIAL = {
    (16, "BFS"): (0.14, 0.40, 4.4, 109.0),
    (16, "shortest paths"): (0.17, 1.83, 29.7, 441.0),
    (16, "components"): (0.15, 0.88, 8.7, 171.0),
    (18, "BFS"): (0.12, 0.62, 9.0, 157.0),
    (18, "shortest paths"): (0.15, 1.96, 47.9, 812.0),
    (18, "components"): (0.32, 1.36, 19.0, 401.0),
}
KICKSTARTER = {
    (16, "BFS"): (0.51, 0.90, 1.9, 34.0),
    (16, "shortest paths"): (0.77, 0.82, 2.4, 52.0),
    (16, "components"): (0.48, 0.74, 2.5, 61.0),
    (18, "BFS"): (1.9, 3.5, 7.8, 75.0),
    (18, "shortest paths"): (3.3, 4.0, 9.1, 119.0),
}
PROTOTYPE = {
    (18, "BFS"): (0.047, 0.087, 0.86, 61.0),
    (18, "shortest paths"): (0.042, 0.13, 1.07, 107.0),
    (18, "components"): (0.041, 0.16, 2.1, 139.0),
}
GRAPHBOLT_PAGE_RANK = {16: (76.0, 85.0, 96.0, 177.0)}
AHEAD_OF_DIFFERENTIAL, AHEAD_OF_KICKSTARTER = (2.0, 5.0, 5.0, 5.0), (2.0, 2.0, 2.0, 2.0)

"""What can be reached."""

import graphtide.lang.python as gt


@gt.program
class Reachability:
    """Whether there is a way to each vertex from any of the sources, which reach themselves.

    Fixpoint mode. From scratch O(vertices + edges); an advance costs the edges of the vertices
    whose answer changes or loses its support.
    """

    sources: gt.Vertices
    reached: bool
    heard = gt.Or()

    def initialize(self, v):
        v.reached = v in self.sources

    def traverse(self, u, e, v):
        v.heard(u.reached)

    def update(self, v):
        v.reached = v.reached or v.heard


@gt.program
class Ancestors:
    """Whether there is a way from each vertex to any of the targets: Reachability backwards."""

    targets: gt.Vertices
    reaches: bool
    heard = gt.Or()
    direction = "in"

    def initialize(self, v):
        v.reaches = v in self.targets

    def traverse(self, u, e, v):
        v.heard(u.reaches)

    def update(self, v):
        v.reaches = v.reaches or v.heard

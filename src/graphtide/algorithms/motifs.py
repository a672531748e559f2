"""The 13 ways in which three vertices can be connected by directed edges."""

import graphtide.lang.python as gt


@gt.program
class TriadCensus:
    """How often three vertices are connected in each of the 13 ways.

    Names are those of Holland and Leinhardt: how many of the three pairs have edges both ways, one
    way and not at all, then a letter (down, up, cyclic, transitive). Every three vertices of which
    two pairs at least are joined count once; loops and parallel edges change nothing. Walk mode:
    from scratch it costs the pairs of neighbours of every vertex, an advance the neighbours of the
    ends of its edges.
    """

    triad_021D = gt.Global(gt.Count())  # noqa: N815
    triad_021U = gt.Global(gt.Count())  # noqa: N815
    triad_021C = gt.Global(gt.Count())  # noqa: N815
    triad_111D = gt.Global(gt.Count())  # noqa: N815
    triad_111U = gt.Global(gt.Count())  # noqa: N815
    triad_201 = gt.Global(gt.Count())
    triad_030T = gt.Global(gt.Count())  # noqa: N815
    triad_030C = gt.Global(gt.Count())  # noqa: N815
    triad_120D = gt.Global(gt.Count())  # noqa: N815
    triad_120U = gt.Global(gt.Count())  # noqa: N815
    triad_120C = gt.Global(gt.Count())  # noqa: N815
    triad_210 = gt.Global(gt.Count())
    triad_300 = gt.Global(gt.Count())

    def traverse(self, v):
        for a in v.out_neighbours:
            for b in v.out_neighbours:
                if gt.distinct(v, a, b):
                    if a not in v.in_neighbours and b not in v.in_neighbours:
                        if a < b and a not in b.neighbours:
                            self.triad_021D()
                        if a < b and a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_120D()
                        if a in b.in_neighbours and a not in b.out_neighbours:
                            self.triad_030T()
                    if a not in v.in_neighbours and b in v.in_neighbours:
                        if a not in b.neighbours:
                            self.triad_111U()
                        if a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_210()
                        if a in b.in_neighbours and a not in b.out_neighbours:
                            self.triad_120C()
                    if a < b and a in v.in_neighbours and b in v.in_neighbours:
                        if a not in b.neighbours:
                            self.triad_201()
                        if v < a and a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_300()
        for a in v.in_neighbours:
            if a not in v.out_neighbours:
                for b in v.in_neighbours:
                    if a != b and b not in v.out_neighbours:
                        if a < b and a not in b.neighbours:
                            self.triad_021U()
                        if a < b and a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_120U()
                    if b != v and b in v.out_neighbours and a not in b.neighbours:
                        self.triad_111D()
                for b in v.out_neighbours:
                    if a != b and b not in v.in_neighbours:
                        if a not in b.neighbours:
                            self.triad_021C()
                        if a < v and a < b and a in b.out_neighbours and a not in b.in_neighbours:
                            self.triad_030C()

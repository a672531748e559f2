"""Planning done the slow way: plain Python over sets and small integers, nothing of ours imported.

A version is an int whose bit c says that class c is in it; a matrix is a list of versions and a
list of weights.
"""

from itertools import combinations, permutations, product


def versions_of(membership):
    """The columns of a classes x views table as ints."""
    views = len(membership[0]) if len(membership) else 0
    return [sum(1 << c for c, row in enumerate(membership) if row[view]) for view in range(views)]


def price(before, after, weights):
    """What going from one version to another costs."""
    return sum(weight for c, weight in enumerate(weights) if (before ^ after) >> c & 1)


def chain_price(versions, weights):
    """What a chain in the given order costs, from the empty version on."""
    steps = zip([0, *versions], versions, strict=False)
    return sum(price(a, b, weights) for a, b in steps)


def best_chain(versions, weights):
    """The cheapest of all orders."""
    orders = permutations(versions)
    return min(chain_price(order, weights) for order in orders)


def spanning_trees(points):
    """All ways to give every point but 0 a parent so that 0 is reached from all."""
    for parents in product(range(points), repeat=points - 1):
        parent = [-1, *parents]
        if all(_reaches_root(point, parent) for point in range(points)):
            yield parent


def _reaches_root(point, parent):
    for _ in parent:
        if point == 0:
            return True
        point = parent[point]
    return False


def best_tree(versions, weights):
    """The cheapest tree over the versions themselves, without stones."""
    points = [0, *versions]
    return min(
        sum(price(points[above], points[at], weights) for at, above in enumerate(parent) if at)
        for parent in spanning_trees(len(points))
    )


def best_tree_with_stones(versions, weights):
    """The cheapest tree that may use any version at all: Dreyfus and Wagner over the hypercube."""
    everywhere = range(1 << len(weights))
    costs = [[price(a, b, weights) for b in everywhere] for a in everywhere]
    wanted = list(dict.fromkeys(versions))
    reach = {
        1 << at: [costs[node][target] for node in everywhere] for at, target in enumerate(wanted)
    }
    for size in range(2, len(wanted) + 1):
        for chosen in combinations(range(len(wanted)), size):
            mask = sum(1 << at for at in chosen)
            joined = [_best_split(reach, mask, node) for node in everywhere]
            reach[mask] = [
                min(costs[node][other] + joined[other] for other in everywhere)
                for node in everywhere
            ]
    return reach[(1 << len(wanted)) - 1][0] if wanted else 0


def _best_split(reach, mask, node):
    part = (mask - 1) & mask
    best = float("inf")
    while part:
        best = min(best, reach[part][node] + reach[mask ^ part][node])
        part = (part - 1) & mask
    return best


def reassemble(steps):
    """The set of classes of each step, from its parent's: steps are (parent, inserted, deleted)."""
    versions = []
    for parent, inserted, deleted in steps:
        before = versions[parent] if parent >= 0 else frozenset()
        assert before.isdisjoint(inserted)
        assert before.issuperset(deleted)
        versions.append((before | set(inserted)) - set(deleted))
    return versions

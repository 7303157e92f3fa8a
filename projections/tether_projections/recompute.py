"""What is reached, computed anew from the stored tables in one statement: the check on what is kept incrementally."""

from importlib.resources import files

import numpy as np

from tether_projections.graph import LIVE, STATED
from tether_projections.state import State
from tether_projections.store import ViewStore


def reached(store: ViewStore, possible: bool = False) -> list[int]:
    """The reached nodes by the stored edges and causes, ascending; `possible`: possible premises included.

    One recursive UNION over the edges that pass (design, part 7); a hash join for every hop of the longest chain.
    """
    sql = files("tether_projections").joinpath("recompute.sql").read_text()
    return [int(row[0]) for row in store.rows(sql, [LIVE if possible else LIVE | STATED])]


def differences(store: ViewStore, state: State) -> list[int]:
    """The nodes that the state holds reached and the statement does not, or the other way round; by either reach."""
    found: set[int] = set()
    for forest, possible in ((state.reach, False), (state.reach_possible, True)):
        if possible and not state.has_possible:
            continue
        kept = set(np.flatnonzero(forest.witness >= 0).tolist())
        found |= kept ^ set(reached(store, possible))
    return sorted(found)

"""Why a slot is withdrawn or threatened: every cause with its shortest path, as one reader may see it (I-9)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from tether_schemas.answers import Cause, EvidenceId, Step

from tether_projections.causes import Reasons
from tether_projections.names import Names
from tether_projections.paths import Found, Hop, Path, Region, failing, nearest_bad, shortest, starts_of
from tether_projections.reader import Reader
from tether_projections.state import State
from tether_projections.store import ViewStore

CAUSES_MAX = 1_000  # the nearest are listed
SENTENCES_MAX = 10_000
RESTRICTED = Cause("restricted", "", "", None, 0, ())


@dataclass(frozen=True, slots=True)
class Question:
    """Why what `deciders` decide over has failed; `about` is the node of the asked subject."""

    about: int
    deciders: set[int]
    possible: bool = False
    nearest: bool = False


class Explainer:
    """Finds the causes of one slot for one reader.

    A cause is `restricted`, and named no further, where the reader may not see what states it or any path to it.
    """

    def __init__(self, store: ViewStore, state: State, reader: Reader) -> None:
        self._state = state
        self._names = Names(store, state, reader)
        self._reasons = Reasons(store, state, reader, self._names)

    def causes(self, about: int, withdrawn: set[int], threatened: set[int]) -> list[Cause]:
        """Causes of what these nodes decide over; `about` is the asked subject's node, which is no hop away.

        Those that withdraw come first; those that possible premises alone lead to follow.
        """
        found, known = self._walk(Question(about, withdrawn), set[int]()) if withdrawn else ([], set[int]())
        if self._state.has_possible:
            more, _ = self._walk(Question(about, withdrawn | threatened, possible=True), known)
            found += [replace(cause, possible=True) for cause in more]
        return found[:CAUSES_MAX]

    def nearest(self, about: int, deciders: set[int]) -> Cause | None:
        """The nearest cause that withdraws; of several the least by name. None where none may be seen."""
        found, _ = self._walk(Question(about, deciders, nearest=True), set())
        seen = [cause for cause in found if cause.kind != "restricted"]
        return min(seen, key=lambda cause: (cause.distance, cause.node, cause.kind, cause.detail), default=None)

    def own(self, nodes: Iterable[int]) -> list[Cause]:
        """Why statements are bad themselves, where that alone decides."""
        self._names.fetch(nodes)
        found: list[Cause] = []
        for node in nodes:
            path = (Step(self._names.text(node), None),)
            for reason in self._reasons.of(node) if self._names.sees(node) else ():
                if reason.visible:
                    found.append(Cause(reason.kind, path[0].node, reason.detail, reason.evidence, 0, path))
        return sorted(found, key=lambda cause: (cause.node, cause.kind))[:CAUSES_MAX]

    def visible_bad(self, question: Question) -> set[int]:
        """The bad nodes that the reader may see to be causes."""
        region = self._region(question)
        return set(self._visible(question, region))

    def _region(self, question: Question) -> Region:
        starts = starts_of(self._state, question.about, question.deciders, question.possible)
        self_bad = question.nearest and question.about in starts and self._state.badness.hard[question.about]
        region = (
            Region(sorted(starts)) if self_bad else failing(self._state, starts, question.possible, question.nearest)
        )
        self._names.fetch(region.nodes())
        return region

    def _walk(self, question: Question, known: set[int]) -> tuple[list[Cause], set[int]]:
        """The causes in a region but for those of the nodes `known`; and the nodes that are bad in it."""
        region = self._region(question)
        everything = self._bad(question.about, region, shortest(region, self._names, lambda _: True))
        visible = self._visible(question, region)
        found: list[Cause] = []
        hidden = False
        for node in everything.keys() - known:
            for reason in self._reasons.of(node):
                if node in visible and reason.visible:
                    steps = self._steps(visible[node], region)
                    name = self._names.text(node)
                    found.append(Cause(reason.kind, name, reason.detail, reason.evidence, len(steps) - 1, steps))
                else:
                    hidden = True
        found.sort(key=lambda cause: (cause.distance, [step.node for step in cause.path], cause.kind, cause.detail))
        return found + [RESTRICTED] * hidden, set(everything)

    def _visible(self, question: Question, region: Region) -> dict[int, Path]:
        deciders = [node for node in question.deciders if self._names.sees(node)]
        seen = Region(sorted(starts_of(self._state, question.about, deciders, question.possible)), region.hops)
        return self._bad(question.about, seen, shortest(seen, self._names, self._may_follow))

    def _bad(self, about: int, region: Region, found: Found) -> dict[int, Path]:
        """Paths to what is bad. The subject is no hop away from a statement that rests on it."""
        if about not in region.starts:
            return found.bad
        bad = {node: path for node, path in found.bad.items() if node != about}
        if self._state.badness.hard[about]:
            bad[about] = (about,)
        return bad

    def _may_follow(self, hop: Hop) -> bool:
        names = self._names
        return names.sees(hop.premise) and names.sees(hop.dependent) and names.sees(hop.via) and names.sees(hop.of)

    def _steps(self, path: Path, region: Region) -> tuple[Step, ...]:
        names = self._names
        steps: list[Step] = []
        for node, premise in pairwise(path):
            hops = [hop for hop in region.hops[node] if hop.premise == premise and self._may_follow(hop)]
            said = [named for hop in hops if (named := names[hop.via].evidence) is not None]
            steps.append(Step(names.text(node), min(said, key=_order, default=None)))
        return (*steps, Step(names.text(path[-1]), None))


def _order(named: EvidenceId) -> tuple[str, str]:
    return named.source, named.id


class Sentences:
    """The nearest cause of a withdrawal in a sentence. What is bad is named once while the view stands still."""

    def __init__(self, store: ViewStore) -> None:
        self._store = store
        self._position = -1
        self._restricted = False
        self._known: dict[int, list[Cause]] = {}

    def told(self, state: State, reader: Reader, about: int, deciders: set[int]) -> str | None:
        """Why what these nodes decide over is withdrawn; None where no cause may be seen, or none is near."""
        if state.position != self._position or len(self._known) > SENTENCES_MAX:
            self._position, self._known = state.position, {}
            self._restricted = state.restricted
        if self._restricted:
            cause = Explainer(self._store, state, reader).nearest(about, deciders)
            return None if cause is None else told(cause, cause.distance)
        distance, bad = nearest_bad(state, about, deciders)
        fresh = [node for node in bad if node not in self._known]
        if fresh:
            explainer = Explainer(self._store, state, reader)
            for node in fresh:
                self._known[node] = explainer.own([node])
        causes = [cause for node in bad for cause in self._known[node]]
        cause = min(causes, key=lambda cause: (cause.node, cause.kind, cause.detail), default=None)
        return None if cause is None else told(cause, distance)


def restricted(store: ViewStore) -> bool:
    """Whether any assertion names its readers."""
    return bool(store.rows("SELECT 1 FROM assertion WHERE readers IS NOT NULL LIMIT 1"))


def told(cause: Cause, distance: int) -> str:
    """One cause in a few words: what failed, how, and how far away."""
    match cause.kind:
        case "advisory" | "revocation":
            what = f"{cause.detail.partition(':')[0]} covers {cause.node}"
        case "failed":
            what = f"{cause.node} is bad: {cause.detail}"
        case "higher_version":
            what = cause.detail
        case _:
            what = f"{cause.node} is {cause.kind}"
    steps = "" if not distance else f", {distance} step{'s' * (distance > 1)} away"
    return f"withdrawn: {what}{steps}; see why()"

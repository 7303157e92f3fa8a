"""Layers B and E of the rule (design, part 2) over the statements of one slot. Pure.

`believe` decides what holds without looking at support; `serve` decides what is answered at a time, given which
statements are reached.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tether_schemas.answers import Stance, Status

TRUE_KEY = "true"
FALSE_KEY = "false"


@dataclass(slots=True)
class Statement:
    """One assertion of a slot, as the rule sees it. `issuer` includes its source; times are microseconds."""

    node: int
    evidence: int
    source: str
    id: str
    place: int
    issuer: str
    authority: int
    mode: int
    observed_us: int
    value_key: str
    confidence: float = -1.0
    from_us: int | None = None
    to_us: int | None = None
    expires_us: int | None = None
    complete: bool = False
    own_say: bool = True
    counts: bool = True
    erased: bool = False
    readers: tuple[str, ...] | None = None
    position: int = 0

    @property
    def order(self) -> tuple[int, str, str, int]:
        """Later is greater: observed time, evidence id by code point, place."""
        return self.observed_us, self.source, self.id, self.place

    @property
    def rank(self) -> tuple[int, int, int, float, str, str, int]:
        """Which of several statements of one value is shown: the greatest (readings, 10)."""
        return self.authority, self.mode, self.observed_us, self.confidence, self.source, self.id, self.place

    @property
    def interval(self) -> bool:
        """Whether it is left out of B for C and D: it ends, or begins after it was observed."""
        return self.to_us is not None or (self.from_us is not None and self.from_us > self.observed_us)

    def valid_at(self, at_us: int) -> bool:
        """Half-open: from valid_from (else observed_at) until just before valid_to."""
        begins = self.observed_us if self.from_us is None else self.from_us
        return begins <= at_us and (self.to_us is None or at_us < self.to_us)


@dataclass(slots=True)
class Belief:
    """What holds: no value, one, or several in dispute; each statement's stance; which are present."""

    held: tuple[str, ...]
    stances: dict[int, Stance]
    present: list[Statement]
    standing: list[Statement]

    def holding(self) -> list[Statement]:
        """The standing statements of the one held value."""
        return [one for one in self.standing if one.value_key == self.held[0]] if len(self.held) == 1 else []

    def strongest_present(self) -> set[int]:
        """Present statements that no present one of the same value exceeds in authority (design, D, 3)."""
        best: dict[str, int] = {}
        for one in self.present:
            best[one.value_key] = max(best.get(one.value_key, 0), one.authority)
        return {one.node for one in self.present if one.authority == best[one.value_key]}


def believe(statements: Sequence[Statement], verdict: bool) -> Belief:
    """Layer B over the given statements: those that do not count are `invalidated` and otherwise ignored."""
    stances: dict[int, Stance] = {one.node: "invalidated" for one in statements if not one.counts}
    present: list[Statement] = []
    standing: list[Statement] = []
    by_issuer: dict[str, list[Statement]] = {}
    for one in statements:
        if one.counts:
            by_issuer.setdefault(one.issuer, []).append(one)
    for own in by_issuer.values():
        for one, later in _with_later(own):
            if later == "other":
                stances[one.node] = "superseded"
                continue
            standing.append(one)
            if later == "none":
                present.append(one)
    held = _held_verdict(present) if verdict else _held_value(standing)
    for one in standing:
        if one.value_key not in held:
            stances[one.node] = "outranked"
        else:
            stances[one.node] = "standing" if len(held) == 1 else "disputed"
    return Belief(held, stances, present, standing)


def _with_later(own: list[Statement]) -> Iterable[tuple[Statement, str]]:
    """Each statement of one issuer, with what its successors say: `none`, the `same` value only, or `other`."""
    if len(own) == 1:
        return [(own[0], "none")]
    own = sorted(own, key=lambda one: one.order, reverse=True)
    # seen[k]: the values of later statements with an authority of at least k.
    seen: tuple[set[str], ...] = (set(), set(), set(), set())
    found: list[tuple[Statement, str]] = []
    for one in own:
        values = seen[one.authority]
        found.append((one, "none" if not values else "same" if values == {one.value_key} else "other"))
        for authority in range(one.authority + 1):
            seen[authority].add(one.value_key)
    return found


def _held_verdict(present: list[Statement]) -> tuple[str, ...]:
    trues = [one for one in present if one.value_key == TRUE_KEY]
    for failed in present:
        if failed.value_key == FALSE_KEY and not any(
            passed.order > failed.order and passed.authority > failed.authority for passed in trues
        ):
            return (FALSE_KEY,)
    return (TRUE_KEY,) if trues else ()


def _held_value(standing: list[Statement]) -> tuple[str, ...]:
    best: dict[str, tuple[int, int]] = {}
    for one in standing:
        pair = (one.authority, one.mode)
        if pair > best.get(one.value_key, (-1, -1)):
            best[one.value_key] = pair
    if not best:
        return ()
    top = max(best.values())
    tied = sorted(value for value, pair in best.items() if pair == top)
    if len(tied) == 1:
        return (tied[0],)
    says: dict[str, set[str]] = {value: set() for value in tied}
    for one in standing:
        if one.own_say and (one.authority, one.mode) == top and one.value_key in says:
            says[one.value_key].add(one.issuer)
    # A value that is only retold counts for one issuer, as if one had said it: retelling adds and takes nothing.
    most = max(1, *(len(issuers) for issuers in says.values()))
    return tuple(value for value in tied if max(1, len(says[value])) == most)


@dataclass(slots=True)
class Served:
    """An answer without its texts: the statement shown, those that support it, and the belief it came from."""

    status: Status
    shown: Statement | None
    supports: list[Statement]
    belief: Belief
    is_false: bool = False


def serve(statements: Sequence[Statement], verdict: bool, at_us: int, fails: Callable[[Statement], bool]) -> Served:
    """Layer E at a time. `fails(statement)`: it is reached, or is a verdict about an object that is bad."""
    valid = [one for one in statements if one.valid_at(at_us)]
    belief = believe(valid, verdict)
    if not belief.present:
        lost = bool(statements) and not any(one.counts for one in statements)
        return Served("invalidated" if lost else "unknown", None, [], belief)
    if len(belief.held) > 1:
        return Served("disputed", None, [], belief)
    holding = belief.holding()
    kept = [one for one in holding if not one.erased]
    if not kept:
        return Served("tombstoned", _shown(holding), [], belief)
    fresh = [one for one in kept if one.expires_us is None or at_us < one.expires_us]
    if not fresh:
        return Served("expired", _shown(kept), [], belief)
    if verdict and belief.held == (FALSE_KEY,):
        return Served("current", _shown(kept), kept, belief, is_false=True)
    supports = [one for one in fresh if not fails(one)]
    if supports:
        return Served("current", _shown(supports), supports, belief)
    return Served("withdrawn", _shown(fresh), [], belief)


def _shown(candidates: list[Statement]) -> Statement:
    return max(candidates, key=lambda one: one.rank)

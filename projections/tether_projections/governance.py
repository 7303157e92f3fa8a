"""Layer A: decisions, deletions and policy, kept in memory; there are few of them. Pure state, no rows."""

from dataclasses import dataclass, field
from typing import TypeVar

from tether_schemas.events import AdvisoryTarget, AssertionTarget, EvidenceTarget, SessionTarget, SourceTarget
from tether_schemas.facts import Decided, EvidenceDeleted
from tether_schemas.policy import AUTHORITY_RANK, DEFAULT, Policy
from tether_schemas.subjects import Subject, parse_subject

PUBLIC = "*"

Order = tuple[int, str, str]
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Ruling:
    """One decision: when, and whether it invalidates."""

    order: Order
    invalidates: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """What decisions and deletions look at in a fact: where it comes from."""

    namespace: str
    source: str
    id: str
    time_us: int
    session_id: str | None = None


class Decisions:
    """The decisions on record, by what they cover."""

    def __init__(self) -> None:
        self._by_target: dict[tuple[str, ...], list[Ruling]] = {}
        self.any = False

    def add(self, namespace: str, order: Order, fact: Decided) -> None:
        """Record one decision of a namespace."""
        self.any = True
        ruling = Ruling(order, fact.action == "invalidate")
        self._by_target.setdefault(self.key(namespace, fact), []).append(ruling)

    @staticmethod
    def key(namespace: str, fact: Decided) -> tuple[str, ...]:
        """What a decision is filed under."""
        match fact.target:
            case EvidenceTarget(evidence=ref):
                return (namespace, "evidence", ref.source, ref.id)
            case SourceTarget(source=source):
                return (namespace, "source", source)
            case AssertionTarget(assertion=identifier):
                return (namespace, "assertion", identifier)
            case AdvisoryTarget(advisory=identifier):
                return (namespace, "advisory", identifier)

    def counts(self, seen_from: str, origin: Origin, identifier: str = "", advisory: str = "") -> bool:
        """Whether a fact counts in a namespace: the latest decision that covers it does not invalidate it.

        `identifier` is an assertion's or a link's id, `advisory` an advisory's.
        """
        if not self.any:
            return True
        latest: Ruling | None = None
        for namespace in {seen_from, origin.namespace}:
            for ruling in self._covering(namespace, origin, identifier, advisory):
                if latest is None or ruling.order > latest.order:
                    latest = ruling
        return latest is None or not latest.invalidates

    def on(self, seen_from: str, origin: Origin, identifier: str = "", advisory: str = "") -> set[tuple[str, str, str]]:
        """The evidence of every decision that covers a fact as a namespace sees it."""
        return {
            (namespace, *ruling.order[1:])
            for namespace in {seen_from, origin.namespace}
            for ruling in self._covering(namespace, origin, identifier, advisory)
        }

    def _covering(self, namespace: str, origin: Origin, identifier: str, advisory: str) -> list[Ruling]:
        found = list(self._by_target.get((namespace, "evidence", origin.source, origin.id), ()))
        found += [
            ruling
            for ruling in self._by_target.get((namespace, "source", origin.source), ())
            if origin.time_us <= ruling.order[0]
        ]
        if identifier:
            found += self._by_target.get((namespace, "assertion", identifier), ())
        if advisory:
            found += self._by_target.get((namespace, "advisory", advisory), ())
        return found


class Deletions:
    """The deletions on record, by what they cover. `until` None: for ever."""

    def __init__(self) -> None:
        self._evidence: set[tuple[str, str, str]] = set()
        self._until: dict[tuple[str, ...], int | None] = {}
        self._subjects: dict[tuple[str, str], int | None] = {}
        self.any = False

    def add(self, namespace: str, fact: EvidenceDeleted) -> None:
        """Record one deletion of a namespace."""
        self.any = True
        match fact.target:
            case EvidenceTarget(evidence=ref):
                self._evidence.add((namespace, ref.source, ref.id))
            case SourceTarget(source=source):
                _widen(self._until, (namespace, source), fact.until_us)
            case SessionTarget(source=source, session_id=session):
                _widen(self._until, (namespace, source, session), fact.until_us)
            case _:
                _widen(self._subjects, (namespace, parse_subject(fact.target.subject).text), fact.until_us)

    def covers_evidence(self, origin: Origin) -> bool:
        """Whether evidence is deleted by itself, its source or its session."""
        if not self.any:
            return False
        if (origin.namespace, origin.source, origin.id) in self._evidence:
            return True
        keys: list[tuple[str, ...]] = [(origin.namespace, origin.source)]
        if origin.session_id is not None:
            keys.append((origin.namespace, origin.source, origin.session_id))
        return any(_within(self._until, key, origin.time_us) for key in keys)

    def names(self, namespace: str, source: str, identifier: str) -> bool:
        """Whether evidence is deleted by name, recorded or not."""
        return (namespace, source, identifier) in self._evidence

    @property
    def of_subjects(self) -> bool:
        """Whether any subject is deleted."""
        return bool(self._subjects)

    def covers_subject(self, origin: Origin, subject: Subject) -> bool:
        """Whether an assertion about a subject is erased by a deletion of that subject."""
        if not self._subjects:
            return False
        names = {subject.text, subject.base}
        return any(_within(self._subjects, (origin.namespace, name), origin.time_us) for name in names)


def _widen(untils: dict[Key, int | None], key: Key, until_us: int | None) -> None:
    had = untils.get(key, -(2**62))
    untils[key] = None if until_us is None or had is None else max(had, until_us)


def _within(untils: dict[Key, int | None], key: Key, time_us: int) -> bool:
    if key not in untils:
        return False
    until = untils[key]
    return until is None or time_us <= until


@dataclass(slots=True)
class PolicyBook:
    """The policy in force per namespace: its own latest over the latest of `*` over the default."""

    latest: dict[str, tuple[Order, Policy]] = field(default_factory=dict[str, tuple[Order, Policy]])
    _ever: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _merged: dict[str, Policy] = field(default_factory=dict[str, Policy])
    _versioned: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def add(self, namespace: str, order: Order, policy: Policy) -> bool:
        """Record a policy; whether anything may now mean something else."""
        ever = self._ever.setdefault(namespace, set())
        known = len(ever)
        ever |= {name for name, scheme in policy.schemes.items() if scheme.versioned}
        had = self.latest.get(namespace)
        if had is not None and had[0] >= order:
            return len(ever) > known
        self.latest[namespace] = (order, policy)
        self._merged.clear()
        self._versioned.clear()
        return True

    def of(self, namespace: str) -> Policy:
        """The policy in force in a namespace."""
        merged = self._merged.get(namespace)
        if merged is None:
            merged = DEFAULT
            for name in (PUBLIC, namespace):
                if name in self.latest:
                    merged = self.latest[name][1].over(merged)
            self._merged[namespace] = merged
        return merged

    def all(self) -> list[Policy]:
        """Every policy in force anywhere, the default among them."""
        return [DEFAULT, *(policy for _, policy in self.latest.values())]

    def subject(self, namespace: str, text: str) -> Subject:
        """A subject, with its version split off where the namespace's policy says that its scheme has versions."""
        versioned = self._versioned.get(namespace)
        if versioned is None:
            schemes = self.of(namespace).schemes.items()
            versioned = self._versioned[namespace] = frozenset(name for name, one in schemes if one.versioned)
        return parse_subject(text, versioned)

    def is_special(self, namespace: str, subject: Subject) -> bool:
        """Whether a true verdict about a subject does more than hold: it is impossible for want of a version, or puts
        that on record."""
        scheme = self.of(namespace).schemes.get(subject.scheme)
        return scheme is not None and (scheme.higher_version or (scheme.versioned and subject.version is None))

    def erasable(self, namespace: str, text: str) -> Subject:
        """A subject as deletions see it: a scheme ever called versioned stays so, since erasure only grows."""
        default = {name for name, scheme in DEFAULT.schemes.items() if scheme.versioned}
        ever = default | self._ever.get(PUBLIC, set()) | self._ever.get(namespace, set())
        return parse_subject(text, frozenset(ever))

    def authority(self, namespace: str, source: str, claimed: str) -> int:
        """The rank of a claimed authority after the policy's cap for its source."""
        rank = AUTHORITY_RANK[claimed]
        capped = self.of(namespace).sources.get(source)
        if capped is None or capped.authority_max is None:
            return rank
        return min(rank, AUTHORITY_RANK[capped.authority_max])

    def issuer_key(self, namespace: str, source: str, issuer: str) -> str:
        """Whose statement it is, for succession: within its source, unless policy declares one across sources."""
        declared = self.of(namespace).sources.get(source)
        if declared is not None and declared.issuer is not None:
            return f"\x00{declared.issuer}"
        return f"{source}\x00{issuer}"

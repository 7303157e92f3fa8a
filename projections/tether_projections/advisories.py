"""The advisories on record and what they cover. Kept in memory by package; pure of rows."""

from collections.abc import Iterable
from dataclasses import dataclass

from tether_schemas.facts import AdvisoryIssued
from tether_schemas.subjects import Subject, package_of, parse_subject
from tether_schemas.times import BadTime, time_us
from tether_streams.core.osv import covers, package_base

from tether_projections.governance import PUBLIC, Decisions, Origin

YEAR_2_US = -62_104_060_800_000_000  # 0002-01-01: `modified` before it is no date (the Go files have 0001-01-01)

Group = tuple[str, str, str]  # namespace, source, advisory id


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of an advisory, by its own id and its evidence."""

    node: int
    evidence: int
    origin: Origin
    fact: AdvisoryIssued

    @property
    def order(self) -> tuple[int, str, str]:
        """The latest is the greatest: `modified` where it is a date, else the event's time; then evidence id."""
        modified = modified_us(self.fact)
        return self.origin.time_us if modified is None else modified, self.origin.source, self.origin.id


def modified_us(fact: AdvisoryIssued) -> int | None:
    """When a revision was modified, None where its year is 1."""
    try:
        modified = time_us(fact.modified)
    except BadTime:
        return None
    return modified if modified >= YEAR_2_US else None


@dataclass(frozen=True, slots=True)
class Object:
    """One object node: its namespace and subject as its policy splits it."""

    node: int
    namespace: str
    subject: Subject

    @property
    def package(self) -> str:
        """What advisories name: the subject without version and qualifiers; an entity whole."""
        return package_of(self.subject)


@dataclass(frozen=True, slots=True)
class Hit:
    """An advisory's revision covers an object (`reason` None), or its order is unknown (`reason` says why)."""

    kind: str
    revision: int
    reason: str | None = None


class AdvisoryBook:
    """Advisories by the packages and subjects they name."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._revisions: dict[Group, list[Revision]] = {}
        self._groups_of: dict[str, set[Group]] = {}
        self._names_of: dict[Group, set[str]] = {}
        self._by_id: dict[str, set[Group]] = {}
        self._by_evidence: dict[tuple[str, str], set[Group]] = {}
        self._by_source: dict[str, set[Group]] = {}
        self.by_node: dict[int, Revision] = {}

    def add(self, revision: Revision) -> Group:
        """Record one revision; the group it belongs to."""
        origin, fact = revision.origin, revision.fact
        group = (origin.namespace, origin.source, fact.advisory_id)
        self._revisions.setdefault(group, []).append(revision)
        self.by_node[revision.node] = revision
        for name in names_of(fact):
            self._groups_of.setdefault(name, set()).add(group)
            self._names_of.setdefault(group, set()).add(name)
        self._by_id.setdefault(fact.advisory_id, set()).add(group)
        self._by_evidence.setdefault((origin.source, origin.id), set()).add(group)
        self._by_source.setdefault(origin.source, set()).add(group)
        return group

    def decided_on(self, key: tuple[str, ...]) -> set[Group]:
        """The groups that a decision, by its key, may touch."""
        match key:
            case (_, "advisory", identifier):
                return self._by_id.get(identifier, set())
            case (_, "evidence", source, identifier):
                return self._by_evidence.get((source, identifier), set())
            case (_, "source", source):
                return self._by_source.get(source, set())
            case _:
                return set()

    def names(self, groups: Iterable[Group]) -> set[str]:
        """Every package or subject that any revision of these advisories names."""
        found: set[str] = set()
        for group in groups:
            found |= self._names_of.get(group, set())
        return found

    def naming(self, one: Object) -> list[Revision]:
        """Every revision of the advisories that name an object in any way."""
        groups = set[Group]().union(*(self._groups_of.get(name, ()) for name in _names(one)))
        return [revision for group in groups for revision in self._revisions[group]]

    def __bool__(self) -> bool:
        return bool(self._revisions)

    def current(self, group: Group, seen_from: str) -> Revision | None:
        """The latest revision that counts in a namespace, None when there is none or it is withdrawn."""
        counting = [
            one
            for one in self._revisions[group]
            if self._decisions.counts(seen_from, one.origin, advisory=one.fact.advisory_id)
        ]
        if not counting:
            return None
        latest = max(counting, key=lambda one: one.order)
        return None if latest.fact.withdrawn is not None else latest

    def name(self, one: Object) -> bool:
        """Whether any advisory names an object, at any version; `hits` tells what that says of it."""
        groups = self._groups_of
        return one.package in groups or one.subject.text in groups or one.subject.base in groups

    def hits(self, one: Object) -> list[Hit]:
        """Every advisory that covers an object, and those of which that cannot be said."""
        groups: set[Group] = set()
        for name in _names(one):
            groups |= self._groups_of.get(name, set())
        found: list[Hit] = []
        for group in groups:
            if group[0] not in (PUBLIC, one.namespace):
                continue
            revision = self.current(group, one.namespace)
            hit = None if revision is None else hit_of(revision, one)
            if hit is not None:
                found.append(hit)
        return found


def _names(one: Object) -> set[str]:
    return {one.package, one.subject.text, one.subject.base}


def names_of(fact: AdvisoryIssued) -> set[str]:
    """The packages or subjects that one revision names."""
    names = {base for base in map(package_base, fact.affected) if base is not None}
    for text in fact.subjects:
        names |= bases_of(text)
    return names


def bases_of(text: str) -> set[str]:
    """What may stand as the base of an object that this subject names, as a version or whole.

    Which schemes have versions is for each namespace's policy to say: the part before the last @ may be the base.
    """
    subject = parse_subject(text)
    return {subject.text, package_of(subject), subject.text.rpartition("@")[0] or subject.text}


def hit_of(revision: Revision, one: Object) -> Hit | None:
    """What one revision says of one object: nothing, a hit, or that its order is unknown."""
    fact, subject = revision.fact, one.subject
    if fact.format == "revocation":
        if subject.text in fact.subjects or subject.base in fact.subjects:
            return Hit("revocation", revision.node)
        return None
    if subject.version is None:
        return None
    unknown: str | None = None
    for entry in fact.affected:
        if package_base(entry) != one.package:
            continue
        match = covers(entry, subject.version)
        if match.verdict == "affected":
            return Hit("advisory", revision.node)
        if match.verdict == "unknown":
            unknown = match.reason
    return None if unknown is None else Hit("advisory", revision.node, unknown)

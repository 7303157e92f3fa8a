"""What a deletion covers of what is on record: asked before it is appended, or after (design, part 2, A)."""

from tether_schemas.answers import Covered
from tether_schemas.targets import DeletionTarget, EvidenceTarget, SessionTarget, SourceTarget, SubjectTarget

from tether_projections.graph import CONTENT
from tether_projections.keys import digest
from tether_projections.names import Names
from tether_projections.reader import Reader
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, State
from tether_projections.store import ViewStore

NEAR_MAX = 3  # names that are listed where nothing matches
NEAR_LEAST = 0.8  # Jaro-Winkler similarity from which a name is near
FOR_EVER_US = 2**62
OPEN = "NOT EXISTS (SELECT 1 FROM assertion AS s WHERE s.ev = e.ev AND s.readers IS NOT NULL)"


class Coverage:
    """Finds what deletions cover, for one reader: what it may not see is neither counted nor named."""

    def __init__(self, store: ViewStore, state: State, reader: Reader) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._names = Names(store, state, reader)

    def of(self, target: DeletionTarget, until_us: int | None) -> Covered:
        """What a deletion of a target covers, of evidence with a time up to `until_us` (None: of any time)."""
        direct = self._direct(target, FOR_EVER_US if until_us is None else until_us)
        reached = self._derived(direct)
        self._names.fetch(reached)
        seen = [node for node in reached if self._names.sees(node)]
        kinds, erased = self._state.kinds, self._state.erased
        statements = [node for node in seen if kinds[node] == ASSERTION_KIND]
        named = [node for node in seen if node in direct]
        recorded = {node for node in named if kinds[node] == EVIDENCE_KIND} - self._state.phantoms
        said_in = self._store.where("ev", "assertion", "a", [one for one in named if kinds[one] == ASSERTION_KIND])
        events = recorded | {int(row[0]) for row in said_in}
        gone = sum(node in erased for node in statements)
        reason = f"covers {_count(len(events), 'event')}, and {_count(len(statements), 'statement')} with what derives "
        reason += f"from them; erased by now: {gone}"
        if not events:
            reason = self._nothing(target, until_us is not None) + (f"; {reason}" if statements else "")
        return Covered(len(events), len(statements), gone, reason)

    def _direct(self, target: DeletionTarget, until_us: int) -> set[int]:
        """The evidence and the assertions that the target names, and the assertions of that evidence."""
        namespace = self._reader.namespace
        match target:
            case EvidenceTarget(evidence=ref):
                node = self._state.keys.get(digest("evidence", namespace, ref.source, ref.id))
                evidence = [node] if node else []
            case SessionTarget(source=source, session_id=session):
                evidence = self._evidence("source = ? AND session_id = ?", [source, session], until_us)
            case SourceTarget(source=source):
                evidence = self._evidence("source = ?", [source], until_us)
            case SubjectTarget(subject=text):
                return self._about(text, until_us)
        return {*evidence, *(int(row[0]) for row in self._store.where("a", "assertion", "ev", evidence))}

    def _evidence(self, where: str, values: list[str], until_us: int) -> list[int]:
        rows = self._store.rows(
            f"SELECT ev FROM evidence WHERE namespace = ? AND time_us <= ? AND {where}",
            [self._reader.namespace, until_us, *values],
            "evidence",
        )
        return [int(row[0]) for row in rows]

    def _about(self, text: str, until_us: int) -> set[int]:
        namespace, policies = self._reader.namespace, self._state.policies
        asked = policies.erasable(namespace, text).text
        rows = self._store.rows(
            "SELECT m.subject, s.a FROM memory AS m JOIN assertion AS s USING (slot) JOIN evidence AS e ON e.ev = s.ev "
            "WHERE m.namespace = ? AND starts_with(m.subject, ?) AND e.time_us <= ?",
            [namespace, asked.partition("?")[0].partition("#")[0], until_us],
        )
        found: set[int] = set()
        for subject, node in rows:
            about = policies.erasable(namespace, subject)
            if asked in (about.text, about.base):
                found.add(int(node))
        return found

    def _derived(self, direct: set[int]) -> list[int]:
        """These, and what derives from them by content: erasing them erases it."""
        graph = self._state.graph
        found, stack = set(direct), list(direct)
        while stack:
            for edge in graph.edges_to(stack.pop()):
                dependent = int(graph.dependent[edge])
                if graph.flags[edge] & CONTENT and dependent not in found:
                    found.add(dependent)
                    stack.append(dependent)
        return sorted(found)

    def _nothing(self, target: DeletionTarget, bounded: bool) -> str:
        whose = "on record" if self._reader.operator else "that this memory may see"
        time = " up to that time" if bounded else ""
        name, near = self._near(target)
        listed = f"; on record are {', '.join(near)}" if near else ""
        return f"nothing {whose}{time} matches {name}{listed}"

    def _near(self, target: DeletionTarget) -> tuple[str, list[str]]:
        """What a target is called, and the nearest names of its kind that are on record."""
        match target:
            case SubjectTarget(subject=text):
                return text, self._nearest("m.subject", "namespace = ?", [], text)
            case SourceTarget(source=source):
                return f"source {source}", self._nearest("e.source", "namespace = ?", [], source)
            case SessionTarget(source=source, session_id=within):
                name, column = f"session {within} of source {source}", "e.session_id"
            case EvidenceTarget(evidence=ref):
                source, within = ref.source, ref.id
                name, column = f"evidence {source} {within}", "e.id"
        if found := self._nearest(column, "namespace = ? AND e.source = ?", [source], within):
            return name, [f"{source} {one}" for one in found]
        near = self._nearest("e.source", "namespace = ?", [], source)
        return name, [f"source {one}" for one in near if one != source]

    def _nearest(self, column: str, where: str, values: list[str], name: str) -> list[str]:
        table = "evidence AS e"
        if column.startswith("m."):
            table = "memory AS m JOIN assertion AS a USING (slot) JOIN evidence AS e ON e.ev = a.ev"
        seen = "TRUE" if self._reader.operator else OPEN
        rows = self._store.rows(
            f"SELECT DISTINCT {column} AS name, jaro_winkler_similarity({column}, ?) AS near FROM {table} "
            f"WHERE e.{where} AND {column} IS NOT NULL AND {seen} AND near >= {NEAR_LEAST} "
            f"ORDER BY near DESC, name LIMIT {NEAR_MAX}",
            [name, self._reader.namespace, *values],
        )
        return [row[0] for row in rows]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""What nodes are called, who stated them, and whether a reader may see them. Fetched in bulk, kept for one read."""

from collections.abc import Iterable
from dataclasses import dataclass

import orjson
from tether_schemas.answers import EvidenceId
from tether_schemas.refs import evidence_text

from tether_projections.reader import Reader
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, OBJECT_KIND, State
from tether_projections.store import ViewStore


@dataclass(frozen=True, slots=True)
class Named:
    """One node: its name (a subject, an assertion id, evidence as JSON), and the evidence that states it, if any."""

    text: str
    evidence: EvidenceId | None = None
    visible: bool = True


UNNAMED = Named("", visible=False)


class Names:
    """Names of nodes and links as one reader sees them."""

    def __init__(self, store: ViewStore, state: State, reader: Reader) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._known: dict[int, Named] = {}

    def __getitem__(self, node: int) -> Named:
        """A node that was fetched; what no table knows is not shown."""
        if node not in self._known:
            self.fetch([node])
        return self._known[node]

    def text(self, node: int) -> str:
        """The name of a node."""
        return self[node].text

    def sees(self, node: int) -> bool:
        """Whether the reader may see a node; 0 stands for nobody's statement."""
        return not node or self[node].visible

    def fetch(self, nodes: Iterable[int]) -> None:
        """Read many names at once."""
        wanted = sorted(set(nodes) - self._known.keys() - {0})
        kinds = self._state.kinds
        self._objects([node for node in wanted if kinds[node] == OBJECT_KIND])
        self._assertions([node for node in wanted if kinds[node] == ASSERTION_KIND])
        self._evidence([node for node in wanted if kinds[node] == EVIDENCE_KIND])
        self._links([node for node in wanted if not kinds[node]])
        self._phantoms([node for node in wanted if node not in self._known])
        for node in wanted:
            self._known.setdefault(node, UNNAMED)

    def _objects(self, nodes: list[int]) -> None:
        lately = self._state.subjects
        for node in nodes:
            if node in lately:
                self._known[node] = Named(lately[node])
        nodes = [node for node in nodes if node not in lately]
        for node, text in self._store.where("node, text", "node", "node", nodes):
            self._known[int(node)] = Named(text)

    def _assertions(self, nodes: list[int]) -> None:
        columns = "a, assertion_id, source, id, readers"
        for node, text, source, identifier, readers in self._store.where(columns, "assertion", "a", nodes):
            self._known[int(node)] = Named(text, EvidenceId(source, identifier), self._may_see(readers))

    def _evidence(self, nodes: list[int]) -> None:
        visible: dict[int, bool] = {}
        for node, readers in self._store.where("ev, readers", "assertion", "ev", nodes):
            visible[int(node)] = visible.get(int(node), False) or self._may_see(readers)
        for node, source, identifier in self._store.where("ev, source, id", "evidence", "ev", nodes):
            shown = visible.get(int(node), True)
            self._known[int(node)] = Named(evidence_text(source, identifier), EvidenceId(source, identifier), shown)

    def _links(self, nodes: list[int]) -> None:
        owner = {int(node): int(evidence) for node, evidence in self._store.where("l, ev", "link", "l", nodes)}
        rows = self._store.where("ev, source, id", "evidence", "ev", sorted(set(owner.values())))
        said_by = {int(node): EvidenceId(source, identifier) for node, source, identifier in rows}
        for node, evidence in owner.items():
            self._known[node] = Named("", said_by[evidence])

    def _phantoms(self, nodes: list[int]) -> None:
        """What was named and never recorded."""
        for node, text, source in self._store.where("node, text, source", "node", "node", nodes):
            self._known[int(node)] = Named(text if source is None else evidence_text(source, text))

    def _may_see(self, readers: str | None) -> bool:
        return self._reader.may_see(None if readers is None else orjson.loads(readers))

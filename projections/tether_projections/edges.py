"""From premises and links to edges of the derivation graph (design, part 2, D, 1 to 5)."""

from collections.abc import Iterable

from tether_projections.batch import Batch, NewEvidence, NewLink, Target
from tether_projections.graph import BLOCKED, CONTENT, DYNAMIC, LIVE, STATED
from tether_projections.state import ASSERTION_KIND, OBJECT_KIND, Info, State
from tether_projections.store import ViewStore

OBJECT, ASSERTION, EVIDENCE = 0, 1, 2


class Lookup:
    """What is recorded of assertions and evidence, in this batch or before."""

    def __init__(self, store: ViewStore, batch: Batch) -> None:
        self.store = store
        self.batch = batch
        self._known: dict[int, Info | None] = {}
        self._of_evidence: dict[int, list[int]] = {}

    def fetch(self, nodes: Iterable[int]) -> None:
        """Read the infos of many assertions at once."""
        wanted = [node for node in set(nodes) if node not in self._known and node not in self.batch.assertions]
        if not wanted:
            return
        rows = self.store.where("a, ev, slot", "assertion", "a", wanted)
        slots = {
            int(row[0]): row
            for row in self.store.where(
                "slot, object, namespace, predicate, verdict, rests",
                "memory",
                "slot",
                list({int(row[2]) for row in rows}),
            )
        }
        self._known.update(dict.fromkeys(wanted))
        for a, evidence, slot in rows:
            _, about, namespace, predicate, verdict, rests = slots[int(slot)]
            self._known[int(a)] = Info(
                int(a), int(evidence), int(slot), int(about), namespace, predicate, verdict, rests
            )

    def fetch_evidence(self, evidence: Iterable[int]) -> None:
        """Read the assertions of much recorded evidence."""
        wanted = [one for one in set(evidence) if one not in self._of_evidence and one not in self.batch.evidence]
        self._of_evidence.update((one, []) for one in wanted)
        for one, node in self.store.where("ev, a", "assertion", "ev", wanted):
            self._of_evidence[int(one)].append(int(node))

    def info(self, node: int) -> Info | None:
        """The info of a recorded assertion, None for anything else."""
        made = self.batch.assertions.get(node)
        if made is not None:
            return made.info
        if node not in self._known:
            self.fetch([node])
        return self._known[node]

    def of_evidence(self, evidence: int) -> list[int]:
        """The assertions of recorded evidence."""
        made = self.batch.evidence.get(evidence)
        if made is not None:
            return made.assertions
        if evidence not in self._of_evidence:
            self.fetch_evidence([evidence])
        return self._of_evidence[evidence]


class EdgeBuilder:
    """Adds the edges of one batch to the graph."""

    def __init__(self, state: State, batch: Batch, lookup: Lookup) -> None:
        self.state = state
        self.graph = state.graph
        self.batch = batch
        self.lookup = lookup
        self.changed: set[int] = set()  # edges whose flags changed

    def build(self) -> None:
        """Edges of every new assertion and link, and of what waited for them."""
        for evidence in self.batch.evidence.values():
            for node in evidence.assertions:
                if self.batch.assertions[node].phantom:
                    self._assertion_arrived(self.batch.assertions[node].info)
            if evidence.phantom:
                self._evidence_arrived(evidence)
            for node in evidence.assertions:
                made = self.batch.assertions[node]
                for target in made.stated:
                    self._attach(node, made.info, target, True)
                for target in made.possible:
                    self._attach(node, made.info, target, False)
        for link in self.batch.links.values():
            self._attach_link(link)

    def _withdraws(self, info: Info) -> bool:
        """Whether the dependent's policy lets possible premises withdraw."""
        return self.state.policies.of(info.namespace).predicate(info.predicate).possible == "withdraw"

    def _attach_link(self, link: NewLink) -> None:
        kind, node = link.dependent
        if kind == OBJECT:
            for target in link.premises:
                for premise in self._expand(target):
                    self._edge((node, premise), (link.node, 0), STATED if link.stated else 0)
            return
        for dependent in [node] if kind == ASSERTION else self.lookup.of_evidence(node):
            info = self.lookup.info(dependent)
            for target in link.premises:
                if info is None:
                    self._phantom_edges(dependent, link, target)
                else:
                    self._attach(link.node, info, target, link.stated)
                    self.batch.dirty.add(info.slot)

    def _phantom_edges(self, dependent: int, link: NewLink, target: Target) -> None:
        """A link names an assertion that is not recorded: its premise is the assertion's, whatever that will be."""
        content = CONTENT if target[0] != OBJECT and link.stated else 0
        for premise in self._expand(target):
            self._edge((dependent, premise), (link.node, dependent), (STATED if link.stated else 0) | content)

    def _attach(self, via: int, info: Info, target: Target, stated: bool) -> None:
        grade = STATED if stated or self._withdraws(info) else 0
        if target[0] == OBJECT:
            dependent = info.object if info.verdict else info.node
            self._edge((dependent, target[1]), (via, info.node), grade)
            if info.rests and not info.verdict:
                self.rest(info)
            return
        content = CONTENT if stated else 0
        for premise in self._expand(target):
            self._edge((info.node, premise), (via, info.node), grade | content)
            if info.verdict:
                self._edge((info.object, premise), (via, info.node), grade | DYNAMIC)
                self.state.dynamic.add(info.node)
        if info.verdict or info.rests:
            self.rest(info)

    def _expand(self, target: Target) -> list[int]:
        """The nodes that a premise stands for; each assertion among them rests on its subject if it does so at all."""
        kind, node = target
        if kind == OBJECT:
            return [node]
        nodes = [node] if kind == ASSERTION else [node, *self.lookup.of_evidence(node)]
        for one in nodes:
            info = self.lookup.info(one) if one != node or kind == ASSERTION else None
            if info is not None and (info.verdict or info.rests):
                self.rest(info)
        return nodes

    def rest(self, info: Info) -> None:
        """Make sure that the edge from an assertion to its own subject stands."""
        for edge in self.graph.edges_from(info.node):
            stated = int(self.graph.flags[edge]) & STATED
            if stated and int(self.graph.premise[edge]) == info.object and int(self.graph.via[edge]) == info.node:
                return
        live = 0 if info.node in self.state.invalid else LIVE
        self._add((info.node, info.object), (info.node, info.node), live | STATED)

    def _edge(self, ends: tuple[int, int], owners: tuple[int, int], flags: int) -> None:
        if self.state.kinds[ends[1]] != OBJECT_KIND and self._is_blocked(*ends):
            flags |= BLOCKED
        if not flags & DYNAMIC and owners[0] not in self.state.invalid and owners[1] not in self.state.invalid:
            flags |= LIVE
        self._add(ends, owners, flags)

    def _add(self, ends: tuple[int, int], owners: tuple[int, int], flags: int) -> None:
        edge = self.graph.add(ends, owners, flags)
        if flags & LIVE:
            self.batch.new_edges.add(edge)

    def _is_blocked(self, dependent: int, premise: int) -> bool:
        """Whether superseded, outranked and disputed do not pass (D, 5)."""
        about = self.lookup.info(premise) if self._may_be_assertion(premise) else None
        if about is None:
            return False
        if about.verdict and dependent == about.object:
            return True
        own = self.lookup.info(dependent) if self._may_be_assertion(dependent) else None
        return own is not None and own.slot == about.slot

    def _may_be_assertion(self, node: int) -> bool:
        return node in self.batch.assertions or bool(self.state.kinds[node] == ASSERTION_KIND)

    def _evidence_arrived(self, evidence: NewEvidence) -> None:
        """Evidence that premises named before: they derive from each of its assertions too."""
        graph = self.graph
        for edge in graph.edges_to(evidence.node):
            dependent = int(graph.dependent[edge])
            flags = int(graph.flags[edge]) & ~BLOCKED
            for node in evidence.assertions:
                info = self.batch.assertions[node].info
                blocked = BLOCKED if self._is_blocked(dependent, node) else 0
                self._add((dependent, node), (int(graph.via[edge]), int(graph.of[edge])), flags | blocked)
                if info.verdict or info.rests:
                    self.rest(info)
        self._links_arrived(evidence.node, [self.batch.assertions[node].info for node in evidence.assertions], EVIDENCE)

    def _assertion_arrived(self, info: Info) -> None:
        """An assertion that was named before: what edges to and from it mean is known only now."""
        graph = self.graph
        if info.verdict or info.rests:
            self.rest(info)
        for edge in graph.edges_to(info.node):
            if self._is_blocked(int(graph.dependent[edge]), info.node):
                self.set_flags(edge, int(graph.flags[edge]) | BLOCKED)
        for edge in graph.edges_from(info.node):
            if int(graph.of[edge]) == info.node and int(graph.via[edge]) != info.node:
                self.set_flags(edge, int(graph.flags[edge]) & ~(LIVE | CONTENT))
        self._links_arrived(info.node, [info], ASSERTION)

    def _links_arrived(self, dependent: int, infos: list[Info], kind: int) -> None:
        store = self.lookup.store
        for node, grade in store.rows("SELECT l, grade FROM link WHERE dependent = ? AND kind = ?", [dependent, kind]):
            rows = store.rows("SELECT kind, node FROM premise WHERE owner = ?", [node])
            for info in infos:
                for premise_kind, premise in rows:
                    self._attach(int(node), info, (int(premise_kind), int(premise)), grade == 0)

    def set_flags(self, edge: int, flags: int) -> None:
        """Change an edge's flags, noting what reach must look at again."""
        old = int(self.graph.flags[edge])
        if flags == old:
            return
        self.graph.flags[edge] = flags
        self.changed.add(edge)
        gained = flags & LIVE and (not old & LIVE or (old & BLOCKED and not flags & BLOCKED))
        if gained:
            self.batch.new_edges.add(edge)
        else:
            self.batch.lost_edges.add(edge)

    def refresh_owner(self, owner: int, dependents: Iterable[int]) -> None:
        """Make edges via or of an owner live or not, as its counting has changed; dynamic ones follow their slot."""
        graph, invalid = self.graph, self.state.invalid
        for dependent in set(dependents):
            for edge in graph.edges_from(dependent):
                via, of, flags = int(graph.via[edge]), int(graph.of[edge]), int(graph.flags[edge])
                if owner not in (via, of) or flags & DYNAMIC:
                    continue
                live = via not in invalid and of not in invalid
                self.set_flags(edge, flags | LIVE if live else flags & ~LIVE)

    def refresh_dynamic(self, about: int, verdicts: set[int], strongest: set[int]) -> None:
        """Make an object's edges to its verdicts' content premises live while they are present and strongest (D, 3)."""
        graph, invalid = self.graph, self.state.invalid
        for edge in graph.edges_from(about):
            flags, of = int(graph.flags[edge]), int(graph.of[edge])
            if flags & DYNAMIC and of in verdicts:
                live = of in strongest and int(graph.via[edge]) not in invalid and of not in invalid
                self.set_flags(edge, flags | LIVE if live else flags & ~LIVE)

"""Layer C in the engine: which objects are bad by advisories and by higher versions on record."""

from tether_streams.core.versions import pep440_greater

from tether_projections.advisories import Object
from tether_projections.batch import Batch
from tether_projections.slots import SlotKeeper, set_causes
from tether_projections.state import Cause, State, objects_named
from tether_projections.store import ViewStore


class ObjectKeeper:
    """Keeps the causes of objects that advisories or other versions touch."""

    def __init__(self, store: ViewStore, state: State, batch: Batch) -> None:
        self.store = store
        self.state = state
        self.batch = batch

    def advisories(self) -> None:
        """Judge new objects against every advisory, and every object that a new or newly decided advisory names."""
        touched: dict[int, Object] = {}
        if self.batch.groups:
            names = self.state.advisories.names(self.batch.groups)
            for one in objects_named(self.store, self.state, names):
                touched[one.node] = one
        if self.state.advisories:
            touched.update(self.batch.objects)
        for one in touched.values():
            self._judge(one)

    def _judge(self, one: Object) -> None:
        hits = self.state.advisories.hits(one)
        had = self.state.causes.get(one.node, set())
        if not hits and not had and one.node in self.batch.objects:
            return
        causes: set[Cause] = {cause for cause in had if cause[0] not in ("advisory", "revocation")}
        causes |= {(hit.kind, hit.revision) for hit in hits if hit.reason is None}
        set_causes(self.store, self.state, self.batch, one.node, causes)
        if one.node not in self.batch.objects:
            self.store.delete("unresolved", "node", [one.node])
        for hit in hits:
            if hit.reason is not None:
                self.batch.add("unresolved", (hit.revision, one.node, hit.reason))

    def versions(self, slots: SlotKeeper) -> None:
        """Note which versions are on record, and which are thereby retired."""
        bases: set[tuple[str, str]] = set()
        for node, head in slots.recheck.items():
            subject = self.state.policies.subject(head.namespace, head.subject)
            if subject.version is None:
                continue
            base = (head.namespace, subject.base)
            known = self.state.on_record.setdefault(base, {})
            if slots.holds_true(head) != (node in known):
                if node in known:
                    del known[node]
                else:
                    known[node] = subject.version
                bases.add(base)
        touched: dict[int, Object] = {}
        for namespace, base in bases:
            for one in objects_named(self.store, self.state, {base}):
                if one.namespace == namespace:
                    touched[one.node] = one
        for one in [*touched.values(), *self.batch.objects.values()]:
            self._retire(one, (one.namespace, one.subject.base) in bases)

    def _retire(self, one: Object, changed: bool) -> None:
        known = self.state.on_record.get((one.namespace, one.subject.base))
        if not known and not changed:
            return
        had = self.state.causes.get(one.node, set())
        causes = {cause for cause in had if cause[0] != "higher_version"}
        version = one.subject.version
        for node, other in (known or {}).items():
            if version is not None and node != one.node and pep440_greater(other, version):
                causes.add(("higher_version", node))
        set_causes(self.store, self.state, self.batch, one.node, causes)

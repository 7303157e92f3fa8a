"""Views whose pasts are read, and what they must answer: as a whole build up to there, and as the oracle."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tether_projections.queries import Queries, Reader
from tether_projections.store import ViewStore
from tether_replay.past import Past, Question
from tether_schemas.facts import FactRecord
from tether_streams.memory import MemoryLog

from tests.oracle import Oracle
from tests.projections.driven import NAMESPACES
from tests.projections.views import recalled
from tests.replay.logs import fact_log, followed

Slot = tuple[str, str, str]  # scope, subject, predicate
TIMES = (None, 3, 25, 40)


@dataclass
class Pasts:
    """A view that followed a log, and reads of its pasts; positions are the records' offsets."""

    records: list[FactRecord]
    log: MemoryLog
    store: ViewStore
    past: Past

    def close(self) -> None:
        self.past.close()
        self.store.close()

    def oracle(self, position: int, namespace: str) -> Oracle:
        """What the rule says of a past."""
        then = [record for record in self.records if record.offset <= position]
        return Oracle(then, namespace, Oracle(self.records, namespace))

    def slots(self, namespace: str) -> list[Slot]:
        """Every slot of which anything is ever said."""
        return sorted({slot[:3] for slot in Oracle(self.records, namespace).beliefs})

    def faults(self, position: int, only: Random | None = None) -> Iterator[str]:
        """What is answered otherwise than by the oracle, or than by a whole build. `only`: some of the slots."""
        whole = ViewStore(":memory:")
        built = Queries(whole, self.past.prepare(position).build(whole, None))
        for namespace in NAMESPACES:
            oracle = self.oracle(position, namespace)
            slots = self.slots(namespace)
            for slot in slots if only is None else only.sample(slots, min(len(slots), 4)):
                reader = Reader(namespace)
                with self.past.queries(Question(reader, slot[1], slot[2], slot[0]), position) as queries:
                    yield from recall_faults(queries, built, oracle, slot)
                    for at_us in TIMES:
                        asked = (reader, slot[1], slot[2], slot[0])
                        for name, got, want in (
                            ("why", *(one.why(*asked, oracle.now_us, at_us) for one in (queries, built))),
                            ("history", *(one.history(*asked, at_us) for one in (queries, built))),
                        ):
                            if got != want:
                                yield f"{name} {namespace} {slot} at {position}, {at_us}: {got}, not {want}"
        whole.close()


def recall_faults(queries: Queries, built: Queries, oracle: Oracle, slot: Slot) -> Iterator[str]:
    """What is recalled otherwise."""
    scope, subject, predicate = slot
    for at_us in TIMES:
        got, same = (
            one.recall(
                Reader(oracle.namespace), subject, predicate, scope=scope, valid_at_us=at_us, now_us=oracle.now_us
            )
            for one in (queries, built)
        )
        want = oracle.recall(subject, predicate, scope, at_us)
        if recalled(got) != want:
            yield f"recall {oracle.namespace} {slot} at {at_us}: {recalled(got)}, not {want}"
        if replace(got, position="") != replace(same, position=""):
            yield f"recall {oracle.namespace} {slot} at {at_us}: {got}, not {same} as built"


def pasts_of(given: Sequence[FactRecord], seed: int = 0) -> Pasts:
    """A view over a log of these records."""
    log, records = fact_log(given)
    store, engine = followed(log, records, Random(seed))
    by_offset = {record.offset: record for record in records}
    return Pasts(records, log, store, Past(engine, log, lambda places: [by_offset[place] for place in places]))

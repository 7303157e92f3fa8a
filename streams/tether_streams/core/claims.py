"""From the arguments of `memory.write` and `memory.link` to facts; rules for other tools end here too.

Ids are content-addressed over the evidence and the claim in canonical spelling, so extracting twice gives the same
facts and two equal claims of one evidence are one assertion.
"""

from tether_schemas.builtin import AnyRef, MemoryLink, MemoryWrite
from tether_schemas.canonical import content_id
from tether_schemas.events import Envelope
from tether_schemas.facts import Asserted, Linked
from tether_schemas.refs import Ref, parse_ref
from tether_schemas.subjects import parse_subject

from tether_streams.core.build import trusted

FACTS_PER_EVENT_MAX = 10_000


class TooManyFacts(ValueError):
    """One event would make more than FACTS_PER_EVENT_MAX facts."""

    def __init__(self) -> None:
        super().__init__(f"makes more than {FACTS_PER_EVENT_MAX} facts of one event; split the event")


class Claims:
    """The assertions and links of one event, in order, equal ones once."""

    def __init__(self, event: Envelope) -> None:
        self.facts: list[Asserted | Linked] = []
        self._evidence = [event.namespace, event.source, event.id]
        self._time = event.time
        self._ids: set[str] = set()

    def write(self, claim: MemoryWrite, issuer: str) -> None:
        """Add one assertion; `issuer` is whose statement it is where the claim names none. Raises TooManyFacts."""
        written = claim.__dict__
        premises = _refs(claim.derived_from)
        values = {
            "subject": parse_subject(claim.subject).text,
            "predicate": claim.predicate,
            "value": claim.value,
            "scope": claim.scope,
            "issuer": claim.issuer or issuer,
            "memory_type": written["memory_type"],
            "mode": written["mode"],
            "valid_from": written["valid_from"],
            "valid_to": written["valid_to"],
            "observed_at": claim.observed_at or self._time,
            "expires_at": written["expires_at"],
            "review_at": written["review_at"],
            "authority": written["authority"],
            "confidence": written["confidence"],
            "sensitivity": written["sensitivity"],
            "readers": claim.readers,
            "premises_complete": written["premises_complete"],
            "original_text": written["original_text"],
            "write_reason": written["write_reason"],
        }
        content = {name: value for name, value in values.items() if value is not None}
        content["premises"] = sorted([premise.key for premise in premises])
        assertion_id = content_id("as", {"evidence": self._evidence, "claim": content})
        if not self._is_new(assertion_id):
            return
        self.facts.append(
            trusted(
                Asserted,
                {
                    "type": "Asserted",
                    "assertion_id": assertion_id,
                    "place": len(self.facts),
                    **values,
                    "premises": premises,
                    "possible": (),
                },
            )
        )

    def link(self, link: MemoryLink) -> None:
        """Add one link. Raises TooManyFacts."""
        dependent, premises = parse_ref(link.dependent), _refs(link.all_premises)
        content = {
            "dependent": dependent.key,
            "premises": sorted([premise.key for premise in premises]),
            "grade": link.grade,
        }
        link_id = content_id("ln", {"evidence": self._evidence, "link": content})
        if self._is_new(link_id):
            place = len(self.facts)
            self.facts.append(
                Linked(link_id=link_id, place=place, dependent=dependent, premises=premises, grade=link.grade)
            )

    def _is_new(self, identifier: str) -> bool:
        if identifier in self._ids:
            return False
        if len(self._ids) >= FACTS_PER_EVENT_MAX:
            raise TooManyFacts
        self._ids.add(identifier)
        return True


def _refs(written: tuple[AnyRef, ...]) -> tuple[Ref, ...]:
    """The references in the order they came, each once."""
    refs = [parse_ref(ref) for ref in written]
    return tuple(refs) if len(refs) < 2 else tuple({ref.key: ref for ref in refs}.values())

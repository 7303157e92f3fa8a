"""From the arguments of `memory.write` and `memory.link` to facts; rules for other tools end here too.

Ids are content-addressed over the evidence and the claim in canonical spelling, so extracting twice gives the same
facts and two equal claims of one evidence are one assertion.
"""

from typing import Any

from tether_schemas.build import trusted
from tether_schemas.builtin import AnyRef, MemoryLink, MemoryWrite
from tether_schemas.canonical import content_id, is_plain
from tether_schemas.events import Envelope
from tether_schemas.facts import Asserted, Linked
from tether_schemas.refs import Ref, parse_ref
from tether_schemas.subjects import parse_subject

FACTS_PER_EVENT_MAX = 10_000


class TooManyFacts(ValueError):
    """One event would make more than FACTS_PER_EVENT_MAX facts."""

    def __init__(self) -> None:
        super().__init__(f"makes more than {FACTS_PER_EVENT_MAX} facts of one event; split the event")


class Claims:
    """The assertions and links of one event, in order, equal ones once."""

    def __init__(self, event: Envelope) -> None:
        self.facts: list[Asserted | Linked] = []
        self._evidence = (event.namespace, event.source, event.id)
        self._time = event.time
        self._ids: set[str] = set()

    def write(self, claim: MemoryWrite, issuer: str) -> None:
        """Add one assertion; `issuer` is whose statement it is where the claim names none. Raises TooManyFacts."""
        values = claim.__dict__.copy()  # Invariant: all its other fields are Asserted's, by the same names
        premises = _by_key(values.pop("derived_from"))
        values["subject"] = parse_subject(values["subject"]).text
        if values["issuer"] is None:
            values["issuer"] = issuer
        if values["observed_at"] is None:
            values["observed_at"] = self._time
        given = {name: value for name, value in values.items() if value is not None}
        given["premises"] = sorted(premises)
        assertion_id = assertion_id_of(self._evidence, given)
        if self._is_new(assertion_id):
            values["type"] = "Asserted"
            values["assertion_id"] = assertion_id
            values["place"] = len(self.facts)
            values["premises"] = tuple(premises.values())
            values["possible"] = ()
            values["value_key"] = None
            self.facts.append(trusted(Asserted, values))

    def link(self, link: MemoryLink) -> None:
        """Add one link. Raises TooManyFacts."""
        dependent, premises = parse_ref(link.dependent), _by_key(link.all_premises)
        content = {"dependent": dependent.key, "premises": sorted(premises), "grade": link.grade}
        link_id = content_id("ln", {"evidence": self._evidence, "link": content})
        if self._is_new(link_id):
            place, refs = len(self.facts), tuple(premises.values())
            self.facts.append(
                Linked(link_id=link_id, place=place, dependent=dependent, premises=refs, grade=link.grade)
            )

    def _is_new(self, identifier: str) -> bool:
        if identifier in self._ids:
            return False
        if len(self._ids) >= FACTS_PER_EVENT_MAX:
            raise TooManyFacts
        self._ids.add(identifier)
        return True


def assertion_id_of(evidence: tuple[str, str, str], claim: dict[str, Any]) -> str:
    """The id of one assertion of the evidence (namespace, source, id).

    `claim` holds the fields of MemoryWrite that are not None, the subject in canonical spelling, issuer and observed
    time filled in, and as `premises` the sorted keys of its references.
    """
    confidence = claim.get("confidence")
    # Texts were checked when the event was read; only numbers and names may need more than sorting.
    plain = is_plain(claim["value"]) and (confidence is None or is_plain(confidence))
    return content_id("as", {"evidence": evidence, "claim": claim}, plain)


def _by_key(written: tuple[AnyRef, ...]) -> dict[str, Ref]:
    """The references in the order they came, each once."""
    return {ref.key if ref.source else ref.text: ref for ref in map(parse_ref, written)}

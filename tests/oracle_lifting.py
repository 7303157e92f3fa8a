"""I-4 as claims: when a cause goes, memory is as if it had never been. Each says when exactly that is so."""

from random import Random

from tether_schemas.events import AdvisoryTarget, SourceTarget
from tether_schemas.facts import AdvisoryIssued, Asserted, Decided, Linked
from tether_schemas.times import us_text

from tests.oracle_claims import FAR_US, Build, Records, evidence_of, named_in, same_memory, some_object, uncontested
from tests.records import HOME, PUBLIC, At, Named, decided, evidence, link_of, passes, revoked


def new_advisory(records: Records, build: Build, random: Random) -> str | None:
    """I-4: an advisory that is withdrawn by a later revision leaves memory as if it had never been."""
    subject = some_object(records, random)
    issued = revoked(At("r1", 1, "fresh", PUBLIC), "LIFTED", subject)
    lifting = revoked(At("r2", 2, "fresh", PUBLIC), "LIFTED", subject, withdrawn=True)
    return same_memory(build([*records, issued, lifting], HOME), build(records, HOME), FAR_US)


def all_advisories(records: Records, build: Build, random: Random) -> str | None:
    """I-4: where all advisories are withdrawn by later revisions, memory is as if there had never been any.

    Their evidence must be named by nothing (evidence may fail for itself), and no decision on a source or an advisory
    may keep the later revision from counting.
    """
    kept = uncontested(records)
    issued = [(one, fact) for one in kept for fact in one.facts if isinstance(fact, AdvisoryIssued)]
    targets = [fact.target for one in kept for fact in one.facts if isinstance(fact, Decided)]
    decided_on = {target.source for target in targets if isinstance(target, SourceTarget)}
    decided_on |= {target.advisory for target in targets if isinstance(target, AdvisoryTarget)}
    named = named_in(kept)
    if any({one.source, fact.advisory_id} & decided_on or evidence_of(one) in named for one, fact in issued):
        return None
    lifts = [
        revoked(
            At(f"lift{place}", one.time_us, one.source, one.namespace),
            *(fact.advisory_id, "key:none"),
            modified=us_text(FAR_US + place),
            withdrawn=True,
        )
        for place, (one, fact) in enumerate(issued)
    ]
    never = [one for one in kept if not any(isinstance(fact, AdvisoryIssued) for fact in one.facts)]
    return same_memory(build([*kept, *lifts], HOME), build(never, HOME), FAR_US)


def failure(records: Records, build: Build, random: Random) -> str | None:
    """I-4: a failure that is invalidated leaves memory as if it had never been said.

    Nothing may name it or its evidence: what is invalidated is a cause itself. A slot of which nothing else was ever
    said is not compared: it is invalidated, and would not be.
    """
    kept = uncontested(records)
    named = named_in(kept)
    failures = [
        (place, fact)
        for place, one in enumerate(kept)
        for fact in one.facts
        if isinstance(fact, Asserted) and fact.value is False and one.namespace == HOME
        if ("assertion", fact.assertion_id) not in named and evidence_of(one) not in named
    ]
    if not failures:
        return None
    place, chosen = random.choice(failures)
    without = kept[place].model_copy(update={"facts": tuple(fact for fact in kept[place].facts if fact is not chosen)})
    lifting = decided(At("lifts", FAR_US, "ops"), "invalidate", {"assertion": chosen.assertion_id})
    never = build([*kept[:place], without, *kept[place + 1 :]], HOME)
    return same_memory(build([*kept, lifting], HOME), never, FAR_US)


def new_failure(records: Records, build: Build, random: Random) -> str | None:
    """I-4: the same of a new failure with premises of its own, invalidated by the decision on its evidence."""
    premises: list[Named] = [some_object(records, random) for _ in range(random.randint(0, 2))]
    subject = some_object(records, random)
    failed = passes(At("fails", 5, "fresh"), subject, False, *premises, authority="system-of-record")
    lifting = decided(At("lifts", FAR_US, "ops"), "invalidate", evidence(failed))
    return same_memory(build([*records, failed, lifting], HOME), build(records, HOME), FAR_US)


def succeeded_failure(records: Records, build: Build, random: Random) -> str | None:
    """I-4: a failure that nothing names and that derives from nothing, succeeded by its issuer's later true verdict,
    leaves memory as if the true one alone had been said."""
    subject = some_object(records, random)
    failed = passes(At("fails", FAR_US, "fresh"), subject, False, authority="inferred")
    lifting = passes(At("lifts", FAR_US + 1, "fresh"), subject, True, authority="inferred")
    return same_memory(build([*records, failed, lifting], HOME), build([*records, lifting], HOME), FAR_US + 1)


def outranked_failure(records: Records, build: Build, random: Random) -> str | None:
    """I-4: the same of a failure that another issuer's true verdict of higher authority lifts, where no other failure
    stands in the slot (see test_oracle.py: a lifted failure silences one of lower authority by rule 3)."""
    subject = some_object(records, random)
    failed = passes(At("fails", FAR_US, "fresh"), subject, False, authority="inferred")
    lifting = passes(At("lifts", FAR_US + 1, "higher"), subject, True, authority="system-of-record")
    never = build([*records, lifting], HOME)
    others = [said for said in never.said.values() if said.slot[:3] == ("", subject, "passes") and not said.fact.value]
    return None if others else same_memory(build([*records, failed, lifting], HOME), never, FAR_US + 1)


def link(records: Records, build: Build, random: Random) -> str | None:
    """I-4: a link that is invalidated leaves memory as if it had never been, where it has erased nothing.

    Erasure looks at what does not count too, and stays.
    """
    kept = uncontested(records)
    named = named_in(kept)
    places = [
        place
        for place, one in enumerate(kept)
        if one.namespace == HOME and evidence_of(one) not in named
        if any(isinstance(fact, Linked) for fact in one.facts)
    ]
    if not places:
        return None
    place = random.choice(places)
    lifting = decided(At("lifts", FAR_US, "ops"), "invalidate", {"assertion": link_of(kept[place])})
    lifted, never = build([*kept, lifting], HOME), build([*kept[:place], *kept[place + 1 :]], HOME)
    return same_memory(lifted, never, FAR_US) if lifted.erased == never.erased else None

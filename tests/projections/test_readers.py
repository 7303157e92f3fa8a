"""I-8: what names readers is shown to no one else, by any route, while the rule runs over everything."""

import re
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from tether_projections.queries import Reader
from tether_schemas.answers import Cause, EvidenceId, Step, to_json
from tether_schemas.facts import Asserted, FactRecord, Linked
from tether_schemas.refs import EvidenceRef

from tests.histories import histories
from tests.oracle import Oracle
from tests.projections.views import ANA, BOB, View, recalled, view_of
from tests.records import HOME, PUBLIC, At, claim, claim_of, message, revoked, said, says

A1, B1, C1, SECRET = "item:a@1", "item:b@1", "item:c@1", "item:secret@1"
FOR_ANA: dict[str, Any] = {"readers": (ANA,)}
RESTRICTED = Cause("restricted", "", "", None, 0, ())


def every_read(view: View, subject: str, predicate: str, principal: str | None, scope: str = "") -> list[Any]:
    """What one reader is answered of one slot by every route."""
    queries, reader = view.queries, Reader(HOME, principal)
    return [
        queries.why(reader, subject, predicate, scope, view.now_us()),
        queries.recall(reader, subject, predicate, scope=scope, valid_at_us=20, now_us=view.now_us()),
        queries.history(reader, subject, predicate, scope),
        queries.dependents(reader, subject),
        queries.changes(reader, 0, 1_000),
    ]


@pytest.mark.parametrize("principal", [None, BOB])
def test_i8_a_slot_of_hidden_statements_is_like_one_of_which_nothing_was_ever_said(principal: str | None) -> None:
    """I-8: not even that something is there can be told."""
    hidden = [
        says(At("e1", 1), A1, "note", "red", premises=[B1], **FOR_ANA),
        says(At("e2", 2, "hub"), A1, "note", "blue", **FOR_ANA),
        says(At("e3", 3), B1, "passes", False, **FOR_ANA),
    ]
    records: list[FactRecord] = [message(At("m", 9))]
    nothing = [every_read(view_of(records), subject, "note", principal) for subject in (A1, B1)]
    view = view_of([*records, *hidden])
    assert [every_read(view, subject, "note", principal) for subject in (A1, B1)] == nothing
    assert view.queries.get(Reader(HOME, principal), "ci", "e1") is None
    assert view.recall(A1, "note", ANA).status == "disputed"
    assert view.queries.get(Reader(HOME, ANA), "ci", "e1") is not None


def test_where_the_held_value_is_hidden_the_answer_is_unknown_and_others_are_still_listed() -> None:
    held = says(At("e1", 1), A1, "note", "red", authority="user-direct", **FOR_ANA)
    mine = says(At("e2", 2, "hub"), A1, "note", "blue")
    view = view_of([held, mine])
    answer = view.recall(A1, "note", BOB)
    assert (answer.status, answer.value, answer.assertion, answer.evidence) == ("unknown", None, None, ())
    assert [one.value for one in answer.alternatives] == ["blue"]
    assert [one.assertion for one in view.queries.history(Reader(HOME, BOB), A1, "note", "")] == [claim_of(mine)]
    assert view.recall(A1, "note", ANA).value == "red"


def test_where_the_statement_shown_is_hidden_the_best_visible_one_of_its_value_is() -> None:
    best = says(At("e1", 1), A1, "note", "red", authority="user-direct", **FOR_ANA)
    mine = says(At("e2", 2, "hub"), A1, "note", "red", authority="user-direct", confidence=0.1)
    old = says(At("e0", 0, "bot"), A1, "note", "red")
    view = view_of([best, mine, old])
    answer = view.recall(A1, "note", BOB)
    assert (answer.value, answer.assertion) == ("red", claim_of(mine))
    assert answer.evidence == (EvidenceId("hub", "e2"), EvidenceId("bot", "e0"))
    assert len(view.recall(A1, "note", ANA).evidence) == 3


def test_a_hidden_failure_withdraws_and_is_named_only_as_restricted() -> None:
    """I-3 and I-9 hold for every reader: the withdrawal is seen, its cause is not."""
    view = view_of(
        [says(At("e1", 1), B1, "passes", True, premises=[A1]), says(At("f", 2), A1, "passes", False, **FOR_ANA)]
    )
    answer = view.recall(B1, "passes", BOB)
    assert answer.status == "withdrawn"
    assert answer.reason == "withdrawn: something that it rests on has failed; see why()"
    assert view.queries.why(Reader(HOME, BOB), B1, "passes", "", 9).causes == (RESTRICTED,)
    (seen,) = view.queries.why(Reader(HOME, ANA), B1, "passes", "", 9).causes
    assert seen.kind == "failed"
    (change,) = [one for one in view.queries.changes(Reader(HOME, BOB), 0, 9) if one.subject == B1]
    assert change.cause == "restricted"


def test_a_cause_to_which_only_hidden_statements_lead_is_restricted() -> None:
    told = says(At("e1", 1), B1, "note", "x", premises=[SECRET], **FOR_ANA)
    mine = says(At("e2", 2), C1, "note", "y", premises=[told])
    view = view_of([told, mine, revoked(At("r", 3, "osv", PUBLIC), "R", SECRET)])
    assert view.queries.why(Reader(HOME, BOB), C1, "note", "", 9).causes == (RESTRICTED,)
    assert not view.queries.dependents(Reader(HOME, BOB), SECRET)
    assert len(view.queries.dependents(Reader(HOME, ANA), SECRET)) == 2


def test_where_a_visible_path_leads_to_the_cause_that_path_is_given() -> None:
    long = [says(At("e1", 1), C1, "passes", True, premises=[B1]), says(At("e2", 2), B1, "passes", True, premises=[A1])]
    short = says(At("e3", 3, "hub"), C1, "passes", True, premises=[A1], **FOR_ANA)
    view = view_of([*long, short, says(At("f", 9, "lab"), A1, "passes", False)])
    (cause,) = view.queries.why(Reader(HOME, BOB), C1, "passes", "", 9).causes
    assert [step.node for step in cause.path] == [C1, B1, A1]
    (direct,) = view.queries.why(Reader(HOME, ANA), C1, "passes", "", 9).causes
    assert direct.path == (Step(C1, EvidenceId("hub", "e3")), Step(A1, None))


def test_evidence_of_which_a_part_is_hidden_shows_what_is_visible_and_no_payload() -> None:
    both = said(At("e1", 1), claim(A1, "note", "mine"), claim(B1, "note", "hers", **FOR_ANA))
    view = view_of([both])
    found = view.queries.get(Reader(HOME, BOB), "ci", "e1")
    assert found is not None and found.restricted and not found.payload_visible
    assert found.assertions == (claim_of(both),)
    whole = view.queries.get(Reader(HOME, ANA), "ci", "e1")
    assert whole is not None and whole.payload_visible


def restrict(one: FactRecord, share: int) -> FactRecord:
    """The record with every so many-th assertion (by its id) for Ana alone, and its value, where free, a secret."""
    facts = [_restricted(fact) if isinstance(fact, Asserted) and _chosen(fact, share) else fact for fact in one.facts]
    return one.model_copy(update={"facts": tuple(facts)})


def _chosen(fact: Asserted, share: int) -> bool:
    return int(fact.assertion_id[-4:], 16) % share == 0


def _restricted(fact: Asserted) -> Asserted:
    value = fact.value if fact.predicate in ("passes", "audited") else f"secret of {fact.assertion_id}"
    return fact.model_copy(update={"readers": (ANA,), "value": value})


def leaks(view: View, records: Sequence[FactRecord]) -> list[str]:
    """What a reader is told of that only hidden assertions say: ids, values, names, evidence."""
    own = Oracle(records, HOME).own  # the contents that count
    told, open_texts = _told(view, own), _open_texts(own)
    found: list[str] = []
    for one in own:
        for fact in (fact for fact in one.facts if isinstance(fact, Asserted) and fact.readers is not None):
            found += [f"assertion {fact.assertion_id}"] * (f'"{fact.assertion_id}"' in told)
            found += [f"value of {fact.assertion_id}"] * (f"secret of {fact.assertion_id}" in told)
            for text in (fact.subject, *(ref.text for ref in fact.premises if ref.kind == "object")):
                if text not in open_texts and re.search(rf"{re.escape(text)}(?![\w.@])", told):
                    found.append(f"subject {text}")
    return found


def _told(view: View, own: list[FactRecord]) -> str:
    """Everything that Bob is answered about what he may know of, as JSON."""
    slots: set[tuple[str, str, str]] = set()
    answers: list[Any] = []
    for one in own:
        for fact in one.facts:
            if isinstance(fact, Asserted) and fact.readers is None:
                slots.add((fact.subject, fact.predicate, fact.scope))
        answers.append(view.queries.dependents(Reader(HOME, BOB), EvidenceRef(source=one.source, id=one.id)))
        answers.append(view.queries.get(Reader(HOME, BOB), one.source, one.id))
    for subject, predicate, scope in sorted(slots):
        answers += every_read(view, subject, predicate, BOB, scope)
    return orjson.dumps([orjson.loads(to_json(answer)) for answer in answers]).decode()


def _open_texts(own: list[FactRecord]) -> set[str]:
    found: set[str] = set()
    for one in own:
        for fact in one.facts:
            if isinstance(fact, Asserted) and fact.readers is None:
                found |= {fact.subject, *(ref.text for ref in (*fact.premises, *fact.possible))}
            elif isinstance(fact, Linked):
                found |= {ref.text for ref in (fact.dependent, *fact.premises)}
    return found


@pytest.mark.parametrize("seed", range(200, 230))
def test_i8_over_random_histories_nothing_hidden_is_told_by_any_route(seed: int) -> None:
    """I-8: values, names, assertions of which only hidden statements speak."""
    records = [restrict(one, 2 + seed % 3) for one in histories(seed, 30)]
    assert not leaks(view_of(records), records)


@pytest.mark.parametrize("seed", range(200, 220))
def test_who_may_see_everything_is_answered_as_if_nothing_were_restricted(seed: int) -> None:
    records = [restrict(one, 2) for one in histories(seed, 25)]
    view, oracle = view_of(records), Oracle(records, HOME)
    for scope, subject, predicate in sorted({slot[:3] for slot in oracle.beliefs}):
        assert recalled(view.recall(subject, predicate, ANA, scope=scope)) == oracle.recall(subject, predicate, scope)
        status = view.recall(subject, predicate, BOB, scope=scope).status
        assert status in ("unknown", oracle.recall(subject, predicate, scope).status) or predicate == "tags"

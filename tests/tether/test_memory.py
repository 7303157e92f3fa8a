"""What an agent does with a Memory: it remembers, links, fails, forgets, and asks."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tether import BadEvent, BadNamespace, BadRequest, EventConflict, EvidenceId, Memory, Store, ViewBehind

APP = "pkg:golang/example.com/app@v1.0.0"
LIB = "pkg:golang/example.com/lib@v1.2.0"


def test_a_failure_withdraws_what_derives_from_it(data: Path) -> None:
    with Memory.open(data, namespace="acme") as memory:
        memory.remember(LIB, "passes", True)
        memory.remember(APP, "passes", True)
        memory.link(APP, LIB)
        before = memory.recall(APP, "passes")
        memory.remember(LIB, "passes", False, source="audit")
        after = memory.recall(APP, "passes")
    assert (before.status, before.value) == ("current", True)
    assert (after.status, after.value) == ("withdrawn", None)


def test_a_memory_reads_its_own_appends_at_once(memory: Memory) -> None:
    for number in range(20):
        receipt = memory.remember("user:ana@example.com", "city", number)
        answer = memory.recall("user:ana@example.com", "city")
        assert (answer.value, answer.position) == (number, receipt.position)


def test_memories_of_one_store_read_one_another_within_a_namespace_only(store: Store) -> None:
    """I-8"""
    store.memory("acme").remember("user:ana", "city", "Turin")
    assert store.memory("acme").recall("user:ana", "city").value == "Turin"
    for other in ("beta", "acme/work"):
        assert store.memory(other).recall("user:ana", "city").status == "unknown"


@pytest.mark.parametrize("namespace", ["", "*", "a/b/c", "a b", "acme/*", "acme/"])
def test_a_memory_needs_a_namespace(store: Store, namespace: str) -> None:
    with pytest.raises(BadNamespace):
        store.memory(namespace)


@pytest.mark.parametrize("namespace", ["beta", "*", "acme/work"])
def test_a_memory_appends_to_its_own_namespace_only(memory: Memory, namespace: str) -> None:
    event = revocation(namespace)
    with pytest.raises(BadNamespace, match="through Store"):
        memory.append(event)
    [receipt] = memory.append_many([event])
    assert receipt.position is None and receipt.rejected is not None


def test_a_policy_is_declared_through_a_store_only(memory: Memory, store: Store) -> None:
    data: dict[str, Any] = {"action": "policy", "policy": {}, "decided_by": "ana"}
    event = {**revocation("acme"), "type": "tether.decision.v1", "data": data}
    with pytest.raises(BadEvent, match="operator"):
        memory.append(event)
    assert store.append(event).position is not None


def test_an_advisory_for_all_reaches_a_namespace_born_later(store: Store) -> None:
    store.advisory({"id": "R-1", "subject": "item:key", "reason": "leaked", "modified": now()}, format="revocation")
    later = store.memory("born/later")
    later.remember("item:key@3", "passes", True)
    assert later.recall("item:key@3", "passes").status == "withdrawn"


def test_the_same_event_again_is_answered_with_the_same_receipt(memory: Memory) -> None:
    """I-1"""
    event = revocation("acme")
    first, again = memory.append(event), memory.append(event)
    assert (first.position, first.duplicate, again.duplicate) == (again.position, False, True)


def test_an_id_with_other_content_is_refused(memory: Memory) -> None:
    """I-1"""
    memory.remember("user:ana", "city", "Turin", id="1")
    with pytest.raises(EventConflict, match="id of its own"):
        memory.remember("user:ana", "city", "Rome", id="1")
    assert memory.recall("user:ana", "city").value == "Turin"


def test_a_bad_event_of_a_batch_leaves_the_others(memory: Memory, store: Store) -> None:
    """I-11"""
    good, conflict = revocation("acme"), {**revocation("acme"), "subject": "other"}
    receipts = memory.append_many([good, {**good, "id": "2", "time": "yesterday"}, conflict, {**good, "id": "3"}])
    assert [receipt.position is None for receipt in receipts] == [False, True, True, False]
    assert [letter.reason for letter in store.dead_letters()] == [receipts[1].rejected, receipts[2].rejected]


def test_a_misspelt_field_is_named(memory: Memory) -> None:
    with pytest.raises(BadEvent, match=r"data\.arguments\.scop: is no field here; check its spelling"):
        memory.remember("user:ana", "city", "Turin", scop="x")  # pyright: ignore[reportCallIssue]  the mistake itself
    with pytest.raises(BadEvent, match="titel: is no argument here"):
        memory.forget(APP, titel="x")  # pyright: ignore[reportCallIssue]  the mistake itself


def test_said_twice_is_two_statements(memory: Memory) -> None:
    first, second = memory.remember("user:ana", "city", "Turin"), memory.remember("user:ana", "city", "Turin")
    assert first.position != second.position


def test_what_is_said_later_follows_what_was_said_before_within_one_microsecond(memory: Memory) -> None:
    for city in range(200):
        memory.remember("user:ana", "city", city)
    assert memory.recall("user:ana", "city").value == 199


def test_forgotten_content_is_served_to_nobody_again(memory: Memory) -> None:
    """I-5"""
    memory.remember("user:ana", "city", "Turin", id="1", source="chat")
    memory.forget({"evidence": {"source": "chat", "id": "1"}}, "asked")
    memory.restore({"evidence": {"source": "chat", "id": "1"}})
    answer = memory.recall("user:ana", "city")
    assert (answer.status, answer.value) == ("tombstoned", None)
    event = memory.get(EvidenceId("chat", "1"))
    assert event is not None and "data" not in event


def test_a_subject_is_forgotten_by_its_name(memory: Memory) -> None:
    memory.remember("user:ana", "city", "Turin")
    memory.forget("user:ana", "asked", requested_by="ana")
    assert memory.recall("user:ana", "city").status == "tombstoned"


def test_a_deletion_says_what_it_covers_before_it_and_after(memory: Memory) -> None:
    memory.remember("user:ana", "city", "Rome", source="chat", id="1")
    memory.remember("user:ana", "summary", "in Rome", derived_from=EvidenceId("chat", "1"))
    before = memory.covered({"source": "chat"})
    assert (before.events, before.statements, before.erased, memory.status().erased) == (1, 2, 0, 0)
    memory.forget({"source": "chat"})
    after = memory.covered({"source": "chat"})
    assert (after.events, after.statements, after.erased, memory.status().erased) == (1, 2, 2, 2)
    assert after.reason == "covers 1 event, and 2 statements with what derives from them; erased by now: 2"


def test_a_deletion_that_matches_nothing_is_accepted_and_told_with_the_nearest_names(memory: Memory) -> None:
    memory.remember("user:ana", "city", "Rome")
    assert memory.forget("user:anna").position is not None
    assert (
        memory.covered("user:anna").reason
        == "nothing that this memory may see matches user:anna; on record are user:ana"
    )
    with pytest.raises(BadRequest, match=r"target\.subject: bad subject 'ana'"):
        memory.covered("ana")


def test_i8_a_namespace_that_was_never_used_is_told_without_the_names_of_others(store: Store) -> None:
    store.memory("acme").remember("user:ana", "city", "Rome")
    answer = store.memory("typo").recall("user:ana", "city")
    assert answer.reason == "unknown: nothing is asserted of user:ana city; nothing was ever appended to namespace typo"
    assert (store.memory("typo").status().events, store.namespaces()) == (0, ["acme"])


def test_forgetting_a_source_for_ever_covers_what_it_says_later(memory: Memory) -> None:
    memory.forget({"source": "bot"}, until=None)
    memory.remember("user:ana", "city", "Turin", source="bot")
    assert memory.recall("user:ana", "city").status == "tombstoned"


def test_an_invalidated_failure_no_longer_withdraws_until_it_is_restored(memory: Memory) -> None:
    """I-4"""
    memory.remember(LIB, "passes", False, source="audit", id="1")
    memory.remember(APP, "passes", True, derived_from=[LIB])
    statuses = [memory.recall(APP, "passes").status]
    for decide in (memory.invalidate, memory.restore):
        decide(EvidenceId("audit", "1"), "checked again")
        statuses.append(memory.recall(APP, "passes").status)
    assert statuses == ["withdrawn", "current", "withdrawn"]


def test_a_memory_derives_from_evidence_and_falls_with_it(memory: Memory) -> None:
    memory.transcript("s1", 1, "user", "I moved to Turin", source="chat", id="m1")
    memory.remember("user:ana", "city", "Turin", derived_from=EvidenceId("chat", "m1"))
    memory.forget({"source": "chat", "session_id": "s1"})
    assert memory.recall("user:ana", "city").status == "tombstoned"


def test_what_names_readers_is_shown_to_them_only_and_fails_for_all(store: Store) -> None:
    """I-8"""
    anyone, ana = store.memory("acme"), store.memory("acme", principal="ana")
    ana.remember("user:bob", "salary", 100, readers=["ana"], id="1", source="hr")
    assert ana.recall("user:bob", "salary").value == 100
    assert anyone.recall("user:bob", "salary").status == "unknown"
    assert anyone.get(EvidenceId("hr", "1")) is None
    ana.remember(LIB, "passes", False, readers=["ana"])
    anyone.remember(APP, "passes", True, derived_from=[LIB])
    assert anyone.recall(APP, "passes").status == "withdrawn"


def test_get_gives_the_event_as_it_came(memory: Memory) -> None:
    event = revocation("acme") | {"traceparent": "00-1-2-01"}
    memory.append(event)
    assert memory.get({"source": event["source"], "id": event["id"]}) == event
    assert memory.get(EvidenceId("nobody", "1")) is None


def test_times_are_text_or_aware_datetimes(memory: Memory) -> None:
    start = datetime.now(UTC) - timedelta(days=10)
    memory.remember("user:ana", "city", "Turin", time=start, valid_to=start + timedelta(days=5))
    assert memory.recall("user:ana", "city", valid_at=start + timedelta(days=1)).value == "Turin"
    assert memory.recall("user:ana", "city").status == "unknown"
    with pytest.raises(BadEvent, match="time zone"):
        memory.remember("user:ana", "city", "Turin", time=datetime(2026, 1, 1))  # noqa: DTZ001  the mistake itself
    with pytest.raises(BadRequest, match="valid_at"):
        memory.recall("user:ana", "city", valid_at="2026-01-01")


@pytest.mark.parametrize("field", ["time", "observed_at"])
def test_a_time_far_ahead_of_the_log_is_refused_by_name(memory: Memory, field: str) -> None:
    ahead = datetime.now(UTC) + timedelta(minutes=6)
    with pytest.raises(BadEvent, match=rf"{field}: .* ahead of the log's clock"):
        memory.remember("user:ana", "city", "Turin", **{field: ahead})  # pyright: ignore[reportArgumentType]  by name
    memory.remember("user:ana", "city", "Turin", valid_from=ahead, expires_at=ahead + timedelta(days=900))


def test_a_read_may_wait_for_positions(memory: Memory) -> None:
    receipts = [memory.remember("user:ana", "city", city) for city in ("Turin", "Rome")]
    positions = [receipt.position or "" for receipt in receipts]
    assert memory.recall("user:ana", "city", min_position=positions).value == "Rome"
    with pytest.raises(ViewBehind) as caught:
        memory.recall("user:ana", "city", min_position="99", timeout_s=0.05)
    assert (caught.value.wanted, caught.value.have) == ("99", positions[-1])
    with pytest.raises(BadRequest, match="min_position"):
        memory.recall("user:ana", "city", min_position="latest")


def test_a_waiting_read_sees_what_another_thread_appends_meanwhile(memory: Memory) -> None:
    first = memory.remember("user:ana", "city", "Turin")
    memory.recall("user:ana", "city")
    wanted = str(int(first.position or 0) + 2)  # the facts of the first lie between
    timer = threading.Timer(0.1, memory.remember, ("user:ana", "city", "Rome"))
    timer.start()
    assert memory.recall("user:ana", "city", min_position=wanted, timeout_s=30).value == "Rome"
    timer.join()


def test_many_threads_share_one_store(store: Store) -> None:
    """Each thread reads its own appends, in its own namespace."""

    def work(name: str) -> None:
        memory = store.memory(name)
        for number in range(15):
            memory.remember("user:ana", "city", [name, number])
            assert memory.recall("user:ana", "city").value == [name, number]
        done.append(name)

    done: list[str] = []
    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 6


def revocation(namespace: str) -> dict[str, Any]:
    """A whole event of a namespace, always the same."""
    advisory = {"id": "R-1", "subject": "item:key@1", "reason": "leaked", "modified": "2026-01-01T00:00:00Z"}
    return {
        "specversion": "1.0",
        "id": "1",
        "source": "security",
        "type": "tether.advisory.v1",
        "time": "2026-01-01T00:00:00+01:00",
        "namespace": namespace,
        "data": {"format": "revocation", "advisory": advisory},
    }


def now() -> str:
    return datetime.now(UTC).isoformat()

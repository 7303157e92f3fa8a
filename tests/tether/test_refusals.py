"""What a newcomer gets wrong is refused in a sentence: the field, what was given, what is allowed."""

from collections.abc import Callable
from typing import Any

import pytest

from tether import Memory, TetherError

APP, LIB = "item:app@1", "item:lib@1"
ID = "as_" + "0" * 32

# Callers need not be type-checked, so nor is what they get wrong.
Mistake = Callable[[Any], object]
MISTAKES: list[tuple[Mistake, str]] = [
    (lambda memory: memory.remember(APP, "n", 1, confidence=7), "data.arguments.confidence: is at most 1, not 7"),
    (
        lambda memory: memory.remember(APP, "n", 1, mode="loud"),
        "data.arguments.mode: is 'synthesized', 'inferred', 'extracted' or 'explicit', not 'loud'",
    ),
    (
        lambda memory: memory.remember(APP, "n", 1, authority="root"),
        "data.arguments.authority: is 'unknown', 'inferred', 'user-direct' or 'system-of-record', not 'root'",
    ),
    (lambda memory: memory.remember(7, "n", 1), "data.arguments.subject: is a string, not 7"),
    (lambda memory: memory.remember(APP, "n", 1, source=7), "source: is a string, not 7"),
    (lambda memory: memory.link(APP, []), "data.arguments.premises: is empty; give at least 1 item"),
    (
        lambda memory: memory.link(APP, LIB, grade="sure"),
        "data.arguments.grade: is 'stated' or 'possible', not 'sure'",
    ),
    (
        lambda memory: memory.link("item:app", LIB),
        "data.arguments.dependent: bad dependent 'item:app': names no version; it is one exact version, such as "
        "item:grouse@2",
    ),
    (
        lambda memory: memory.link(APP, "as_nope"),
        "data.arguments.premises.0: bad premise 'as_nope': is no assertion; the id of one is as_ and 32 digits of "
        "0-9a-f, as recall() gives it",
    ),
    (
        lambda memory: memory.invalidate("as_nope"),
        "data.target.assertion: 'as_nope' is no assertion or link; the id of one is as_ or ln_ and 32 digits of "
        "0-9a-f, as recall() and history() give it",
    ),
    (
        lambda memory: memory.restore(ID.upper().replace("AS_", "as_") + "F"),
        f"data.target.assertion: '{ID}F' is no assertion or link; the id of one is as_ or ln_ and 32 digits of "
        "0-9a-f, as recall() and history() give it",
    ),
    (
        lambda memory: memory.dependents("as_nope"),
        "subject: 'as_nope' is no assertion; the id of one is as_ and 32 digits of 0-9a-f, as recall() gives it",
    ),
    (
        lambda memory: memory.dependents({"source": "", "id": "1"}),
        "evidence.source: is empty; give at least 1 character",
    ),
    (lambda memory: memory.get({"source": "ci"}), "evidence: is named by its source and id: {source, id}"),
    (lambda memory: memory.get({"source": "ci", "id": 7}), "evidence.id: is a string, not 7"),
    (lambda memory: memory.recall(7, "n"), "subject: is a string, not 7"),
    (lambda memory: memory.recall(APP, None), "predicate: is a string, not None"),
    (lambda memory: memory.recall(APP, "n", scope=1), "scope: is a string, not 1"),
    (
        lambda memory: memory.recall(APP, "n", timeout_s="soon"),
        "timeout_s: is a number of seconds from 0 to 86400, not 'soon'",
    ),
    (
        lambda memory: memory.recall(APP, "n", min_position=7),
        "min_position: 7 is no position that this store gave",
    ),
    (lambda memory: memory.changes(since="x"), "since: is a number from 0 to 9223372036854775807, not 'x'"),
    (lambda memory: memory.changes(limit="x"), "limit: is a number from 1 to 100000, not 'x'"),
    (
        lambda memory: memory.forget({"sesion": "s"}),
        "data.target: is one of {evidence: {source, id}}, {source}, {source, session_id}, {subject}, not "
        "{'sesion': 's'}",
    ),
    (lambda memory: memory.transcript("s", "1", "user", "hi"), "data.seq: is an integer, not '1'"),
]


@pytest.mark.parametrize(("mistake", "told"), MISTAKES)
def test_a_mistake_is_refused_in_a_sentence(memory: Memory, mistake: Mistake, told: str) -> None:
    with pytest.raises(TetherError) as caught:
        mistake(memory)
    assert str(caught.value) == told


def test_an_assertion_that_is_not_on_record_yet_may_be_linked_and_decided_on(memory: Memory) -> None:
    for accepted in (memory.link(APP, ID), memory.invalidate(ID), memory.restore(ID)):
        assert accepted.position is not None

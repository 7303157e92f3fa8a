"""Ids are of the evidence and the claim, not of how either is spelled."""

from typing import Any

import pytest

from tests.raw import Json, extracted, link, put, write


def identity(fields: Json) -> str:
    fact: Any = extracted(fields)[0].facts[1]
    return getattr(fact, "assertion_id", None) or fact.link_id


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (write(subject="pkg:golang/x@v1%2Bincompatible"), write(subject="pkg:golang/x@v1+incompatible")),
        (write(derived_from=["item:a@1", "item:b@1"]), write(derived_from=["item:b@1", "item:a@1", "item:b@1"])),
        (write(value={"a": 1, "b": [1.0]}), write(value={"b": [1], "a": 1.0})),
        (write(confidence=1), write(confidence=1.0)),
        (write(scope=""), write()),
        (write(issuer="ci"), write()),
        (write(value="x"), put(write(value="x"), "data.result", "other")),
        (link(dependent="item:a@1", premise="item:b@1"), link(dependent="item:a@1", premises=["item:b@1"])),
        (
            link(dependent="pkg:PyPI/A.b@1", premise="item:b@1"),
            link(dependent="pkg:pypi/a-b@1", premise="item:b@1", grade="stated"),
        ),
    ],
)
def test_one_claim_in_two_spellings_has_one_id(a: Json, b: Json) -> None:
    assert identity(a) == identity(b)


BASE = write(subject="item:a@1", value=1, derived_from=["item:b@1"])


@pytest.mark.parametrize(
    "other",
    [
        put(BASE, "id", "e-2"),
        put(BASE, "source", "ci2"),
        put(BASE, "namespace", "acme/build"),
        *(
            put(BASE, f"data.arguments.{field}", value)
            for field, value in {
                "subject": "item:a@2",
                "predicate": "eats",
                "value": "1",
                "scope": "work",
                "issuer": "ana",
                "memory_type": "fact",
                "mode": "inferred",
                "valid_from": "2026-01-01T00:00:00Z",
                "valid_to": "2026-01-01T00:00:00Z",
                "observed_at": "2026-01-01T00:00:00Z",
                "expires_at": "2026-01-01T00:00:00Z",
                "review_at": "2026-01-01T00:00:00Z",
                "authority": "inferred",
                "confidence": 0.5,
                "sensitivity": "high",
                "readers": ["ana"],
                "derived_from": ["item:b@2"],
                "premises_complete": True,
                "original_text": "x",
                "write_reason": "x",
            }.items()
        ),
    ],
)
def test_another_claim_or_other_evidence_has_another_id(other: Json) -> None:
    assert identity(other) != identity(BASE)


def test_evidence_and_an_object_of_the_same_text_are_two_premises() -> None:
    as_object = write(derived_from=["key:x"])
    as_evidence = write(derived_from=[{"source": "key", "id": "key:x"}])
    assert identity(as_object) != identity(as_evidence)
    assert identity(write(derived_from=[{"source": "a", "id": "b/c"}])) != identity(
        write(derived_from=[{"source": "a/b", "id": "c"}])
    )


def test_an_id_is_the_same_for_ever() -> None:
    """A change of this id would make new assertions of every log that exists."""
    assert identity(BASE) == "as_551eeebd49e13d12f89c4ba7649b232d"
    assert identity(link(dependent="item:a@1", premise="item:b@1")) == "ln_3eb9c90d66cb6ebc8d95bd902fd28936"

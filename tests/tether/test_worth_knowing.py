"""What README tells under "Worth knowing"."""

from pathlib import Path

import pytest

from tether import BadRequest, Memory

KEY, APP = "key:ci-signing", "item:app@1"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "data", namespace="acme")


def test_a_revoked_key_withdraws_what_it_signed(memory: Memory) -> None:
    with memory:
        memory.remember(APP, "passes", True)
        memory.link(APP, KEY)
        memory.remember(KEY, "revoked", True)
        assert memory.recall(APP, "passes").status == "current"
        revoked = {"id": "KEY-1", "subject": KEY, "reason": "leaked", "modified": "2026-01-31T12:00:00Z"}
        memory.advisory(revoked, format="revocation")
        assert memory.recall(APP, "passes").status == "withdrawn"
        memory.advisory(
            {**revoked, "modified": "2026-02-01T12:00:00Z", "withdrawn": "2026-02-01T12:00:00Z"}, format="revocation"
        )
        assert memory.recall(APP, "passes").status == "current"


def test_a_higher_version_that_passes_retires_an_item_and_no_package(memory: Memory) -> None:
    with memory:
        for name in ("item:app", "pkg:pypi/app"):
            memory.remember(f"{name}@1", "passes", True)
            memory.remember(f"{name}@2", "passes", True)
        answer = memory.recall("item:app@1", "passes")
        [change] = [one for one in memory.changes() if one.subject == "item:app@1"]
        assert answer.reason == "withdrawn: item:app@2 passes, which is above item:app@1; see why()"
        assert (change.kind, change.cause) == ("withdrawn", "item:app@2 passes, which is above item:app@1")
        assert memory.recall("pkg:pypi/app@1", "passes").status == "current"


def test_a_deleted_pass_goes_on_lifting_the_failure_that_it_lifted(memory: Memory) -> None:
    with memory:
        memory.remember(APP, "passes", True)
        memory.link(APP, "item:lib@1")
        memory.remember("item:lib@1", "passes", False, source="audit")
        memory.remember("item:lib@1", "passes", True, source="audit", id="again")
        memory.forget({"evidence": {"source": "audit", "id": "again"}})
        assert memory.recall(APP, "passes").status == "current"


def test_a_misspelt_option_is_refused_and_makes_no_directory(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="creat"):
        Memory.open(tmp_path / "none", namespace="acme", creat=False)  # pyright: ignore[reportCallIssue]  # the misspelling is the point
    assert not (tmp_path / "none").exists()


def test_a_time_of_another_type_is_refused_by_name(memory: Memory) -> None:
    with memory, pytest.raises(BadRequest, match="valid_at"):
        memory.recall(APP, "passes", valid_at=7)  # pyright: ignore[reportArgumentType]  # not everyone checks types

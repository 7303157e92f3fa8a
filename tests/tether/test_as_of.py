"""A snapshot of a past: what was on record then, with the erasure of now, for any DuckDB to read."""

import stat
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tether_projections.store import ViewStore
from tether_replay.views import Progress
from tether_schemas.errors import BadRequest

from tether import Memory, Store

LIB, APP = "pkg:golang/example.com/lib@v1.0.0", "pkg:golang/example.com/app@v1.0.0"
SECRET, SUMMARY = "the-secret-word-of-ana", "a-summary-of-what-ana-said"
NOW_ROWS = "SELECT subject, predicate, value, status FROM memory_now ORDER BY ALL"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "data") as opened:
        yield opened


def told(store: Store) -> tuple[Memory, str]:
    """A memory where `lib` passed, and failed after the position given."""
    memory = store.memory("acme")
    memory.remember(LIB, "passes", True, source="ci")
    position = memory.remember(APP, "passes", True, derived_from=[LIB], source="ci").position
    memory.remember(LIB, "passes", False, source="ci")
    assert position is not None
    return memory, position


def rows(path: Path) -> list[tuple[object, ...]]:
    with duckdb.connect(str(path), read_only=True) as db:
        return db.execute(NOW_ROWS).fetchall()


def test_a_snapshot_has_what_was_served_then(store: Store, tmp_path: Path) -> None:
    _, position = told(store)
    made = store.as_of(position, tmp_path / "then.duckdb")
    assert rows(tmp_path / "then.duckdb") == [(APP, "passes", "true", "current"), (LIB, "passes", "true", "current")]
    assert (made.position, made.events, made.format) == (position, 2, "duckdb")
    assert made.size_bytes == (tmp_path / "then.duckdb").stat().st_size


def test_a_snapshot_of_the_end_is_the_view(store: Store, tmp_path: Path) -> None:
    memory, _ = told(store)
    store.as_of(store.status().view_position, tmp_path / "now.duckdb")
    copy = ViewStore(str(tmp_path / "now.duckdb"))
    assert copy.rows(NOW_ROWS) == [(APP, "passes", None, "withdrawn"), (LIB, "passes", "false", "current")]
    copy.close()
    assert memory.recall(APP, "passes").status == "withdrawn"


@pytest.mark.parametrize("form", ["duckdb", "parquet"])
def test_i5_what_is_deleted_by_now_is_in_no_byte_of_a_snapshot(store: Store, tmp_path: Path, form: str) -> None:
    """I-5: nor is what was derived from it, by a link that came later too."""
    memory = store.memory("acme")
    said = memory.remember("user:ana", "note", SECRET, id="said", source="chat", original_text=SECRET)
    memory.remember("user:ana", "summary", SUMMARY, id="summed", source="chat")
    then = memory.remember("user:bob", "note", "a word that stays", source="chat").position
    assert said.position is not None and then is not None
    memory.link({"source": "chat", "id": "summed"}, {"source": "chat", "id": "said"})
    memory.forget({"evidence": {"source": "chat", "id": "said"}}, "asked to")
    store.as_of(then, tmp_path / "out", format=form)
    files = [tmp_path / "out"] if form == "duckdb" else list((tmp_path / "out").iterdir())
    content = b"".join(file.read_bytes() for file in files)
    assert SECRET.encode() not in content
    assert SUMMARY.encode() not in content
    if form == "duckdb":
        assert b"a word that stays" in content
        assert [row[3] for row in rows(tmp_path / "out")] == ["tombstoned", "tombstoned", "current"]


def test_parquet_has_a_file_for_each_table(store: Store, tmp_path: Path) -> None:
    _, position = told(store)
    made = store.as_of(position, tmp_path / "out", format="parquet")
    with duckdb.connect() as db:
        found = db.execute(NOW_ROWS.replace("memory_now", f"'{tmp_path}/out/memory_now.parquet'")).fetchall()
    assert [row[3] for row in found] == ["current", "current"]
    assert made.format == "parquet"


def test_a_snapshot_of_one_namespace_has_no_other(store: Store, tmp_path: Path) -> None:
    told(store)
    store.memory("beta").remember("user:zoe", "note", "of beta")
    store.as_of(store.status().view_position, tmp_path / "out.duckdb", namespace="beta")
    assert rows(tmp_path / "out.duckdb") == [("user:zoe", "note", '"of beta"', "current")]


def test_a_snapshot_is_written_for_reading_only(store: Store, tmp_path: Path) -> None:
    _, position = told(store)
    store.as_of(position, tmp_path / "out.duckdb")
    assert not (tmp_path / "out.duckdb").stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "out.duckdb"]


def test_what_is_there_is_replaced_only_by_force(store: Store, tmp_path: Path) -> None:
    _, position = told(store)
    out = tmp_path / "out.duckdb"
    out.write_text("mine")
    with pytest.raises(BadRequest, match="there already"):
        store.as_of(position, out)
    assert out.read_text() == "mine"
    store.as_of(position, out, force=True)
    store.as_of(position, out, force=True)
    assert len(rows(out)) == 2


def test_a_directory_with_other_files_is_not_replaced(store: Store, tmp_path: Path) -> None:
    _, position = told(store)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(BadRequest, match="more than Parquet files"):
        store.as_of(position, tmp_path / "out", format="parquet", force=True)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("known_at", "options", "field"),
    [("99", {}, "known_at"), ("1", {"format": "csv"}, "format"), ("1", {"froce": True}, "froce")],
)
def test_what_makes_no_sense_is_refused_by_its_field(
    store: Store, tmp_path: Path, known_at: str, options: dict[str, str], field: str
) -> None:
    told(store)
    with pytest.raises(BadRequest) as caught:
        store.as_of(known_at, tmp_path / "out", **options)  # pyright: ignore[reportArgumentType]  # that is the point
    assert caught.value.field == field
    assert not (tmp_path / "out").exists()


def test_progress_is_told(store: Store, tmp_path: Path) -> None:
    _, position = told(store)
    seen: list[Progress] = []
    store.as_of(position, tmp_path / "out.duckdb", seen.append)
    assert seen[-1].done == seen[-1].total > 0
    assert seen[-1].records == 2

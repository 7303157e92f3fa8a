"""Export and import of random histories: the same is served, and nothing that is erased leaves the store."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.raw import Json
from tests.replay.worlds import HOME, NAMESPACES, history, line, more_deletions, texts
from tether import Store

SEEDS = range(16, 26)


def filled(path: Path, events: list[Json]) -> Store:
    """A store with these events."""
    store = Store.open(path)
    receipts = store.append_many([line(event) for event in events])
    assert [receipt.rejected for receipt in receipts if receipt.rejected] == []
    return store


def digests(store: Store) -> list[str]:
    return [store.digest(namespace) for namespace in NAMESPACES]


def erased_texts(store: Store, events: list[Json]) -> set[bytes]:
    """What may be found nowhere: the texts of events whose payload is not shown, but for values still served."""
    gone: set[str] = set()
    kept: set[str] = set()
    for event in events:
        if event["namespace"] == "*":
            continue
        memory = store.memory(event["namespace"], "ana")
        shown = memory.get({"source": event["source"], "id": event["id"]})
        if shown is not None and "data" not in shown:
            gone |= texts(event["data"])
    for values in kept_values(store).values():
        kept |= values
    return {text.encode() for text in gone - kept}


def kept_values(store: Store) -> dict[str, set[str]]:
    """The planted texts of values that are not erased, by namespace."""
    from tether.reads import caught_up

    found: dict[str, set[str]] = {namespace: set() for namespace in NAMESPACES}
    with caught_up(store._home) as (view, _):  # pyright: ignore[reportPrivateUsage]  # the test looks inside
        for namespace, value in view.store.rows(
            "SELECT m.namespace, a.value FROM assertion AS a JOIN memory AS m USING (slot) WHERE a.value IS NOT NULL"
        ):
            found[namespace] |= texts(orjson.loads(value))
    return found


def bytes_in(path: Path) -> bytes:
    """Everything in the files of a folder, or in one file."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return b"\0".join(file.read_bytes() for file in files)


def found_in(data: bytes, wanted: set[bytes]) -> list[bytes]:
    return [text for text in wanted if text in data]


@pytest.mark.parametrize("seed", SEEDS)
def test_i2_a_round_trip_serves_the_same_twice_over(seed: int, tmp_path: Path) -> None:
    with filled(tmp_path / "one", history(seed, 60)) as first:
        told = digests(first)
        first.export(tmp_path / "one.ndjson")
    for name, of in (("two", "one"), ("three", "two")):
        with Store.open(tmp_path / name) as store:
            done = store.import_(tmp_path / f"{of}.ndjson")
            assert (done.whole, done.total("refused"), done.total("conflicts")) == (True, 0, 0)
            assert digests(store) == told
            assert store.dead_letters() == []
            store.export(tmp_path / f"{name}.ndjson")


@pytest.mark.parametrize("seed", SEEDS)
def test_i5_nothing_erased_is_in_the_file_or_in_the_store_that_reads_it(seed: int, tmp_path: Path) -> None:
    events = history(seed, 60, deletions=0.12)
    with filled(tmp_path / "one", events) as first:
        gone = erased_texts(first, events)
        first.export(tmp_path / "one.ndjson")
        first.export(tmp_path / "views", format="parquet")
    with Store.open(tmp_path / "two") as store:
        store.import_(tmp_path / "one.ndjson")
        digests(store)
    assert gone
    for name in ("one.ndjson", "views", "two"):
        assert found_in(bytes_in(tmp_path / name), gone) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_i5_i6_an_old_export_brings_nothing_back_that_was_deleted_since(seed: int, tmp_path: Path) -> None:
    """Into another store that has the deletions only: the same is served as where they came after all else."""
    events = history(seed, 50, deletions=0.03)
    since = more_deletions(seed, events, 5)
    with filled(tmp_path / "one", events) as first:
        first.export(tmp_path / "old.ndjson")
        first.append_many([line(event) for event in since])
        told, gone = digests(first), erased_texts(first, events)
    with filled(tmp_path / "two", since) as store:
        done = store.import_(tmp_path / "old.ndjson")
        assert done.whole and done.total("refused") == 0
        assert digests(store) == told
        ghosts = done.total("erased_since")
    data = bytes_in(tmp_path / "two")
    assert found_in(data, gone) == []
    assert bool(gone) >= bool(ghosts)


@pytest.mark.parametrize("seed", range(6))
def test_i5_so_it_does_in_the_store_itself_where_all_are_duplicates(seed: int, tmp_path: Path) -> None:
    events = history(seed, 50, deletions=0.03)
    with filled(tmp_path / "one", events) as store:
        store.export(tmp_path / "old.ndjson")
        store.append_many([line(event) for event in more_deletions(seed, events, 5)])
        told = digests(store)
        done = store.import_(tmp_path / "old.ndjson")
        assert (done.total("new"), done.total("ghosts"), done.total("conflicts")) == (0, 0, 0)
        assert digests(store) == told


@pytest.mark.parametrize("seed", range(8))
def test_i8_a_namespace_goes_with_what_is_public_and_nothing_else(seed: int, tmp_path: Path) -> None:
    events = history(seed, 50)
    with filled(tmp_path / "one", events) as first:
        told = first.digest(HOME)
        first.export(tmp_path / "home.ndjson", namespace=HOME)
        first.export(tmp_path / "views", namespace=HOME, format="parquet")
    others = {text.encode() for event in events if event["namespace"] == NAMESPACES[1] for text in texts(event)}
    assert others and found_in(bytes_in(tmp_path / "home.ndjson") + bytes_in(tmp_path / "views"), others) == []
    with Store.open(tmp_path / "two") as store:
        store.import_(tmp_path / "home.ndjson")
        assert store.digest(HOME) == told


def test_importing_again_changes_nothing_and_says_so(tmp_path: Path) -> None:
    with filled(tmp_path / "one", history(1, 60)) as first:
        events = first.export(tmp_path / "one.ndjson").events
    with Store.open(tmp_path / "two") as store:
        store.import_(tmp_path / "one.ndjson")
        told = digests(store), store.status()
        done: Any = store.import_(tmp_path / "one.ndjson")
        assert done.total("duplicates") == events
        assert (digests(store), store.status()) == told

"""Old payloads move into segments; history replays, is backed up and is destroyed there as before."""

import random
import shutil
import time
from pathlib import Path

import pytest
from tether_streams import ports
from tether_streams.embedded import compaction
from tether_streams.embedded.log import SqliteLog
from tether_streams.ports import Stored

from tests.tether.processes import INGEST, child, lines
from tether import LogCorrupt, LogUnavailable, Memory, Store

NS = "acme"
SECRET = "the safe is behind the picture"
RAW = ["raw.transcripts", "raw.tool-results"]

COMPACT = """
import sys
from tether import Store
print("ready", flush=True)
with Store.open(sys.argv[1]) as store:
    store.compact(keep=0)
"""


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "SEGMENT_RECORDS_MAX", 7)


def fill(store: Store, count: int = 40) -> Memory:
    memory = store.memory(NS)
    for number in range(count):
        memory.remember(f"item:part{number}@1", "passes", number % 9 != 0, derived_from=[f"item:part{number // 2}@1"])
        memory.transcript("s", number, "user", f"{SECRET} {number}", id=f"m{number}", source="chat")
    memory.recall("item:part0@1", "passes")
    return memory


def log_of(store: Store) -> SqliteLog:
    return store._home.log  # pyright: ignore[reportPrivateUsage]  # the log itself is compared


def everything(store: Store) -> list[Stored]:
    return log_of(store).read([*RAW, "facts"], 0, 10_000)


def test_a_compacted_log_reads_and_replays_as_before(store: Store) -> None:
    memory = fill(store)
    before, digest = everything(store), memory.digest()
    done = store.compact(keep=10)
    assert done.payloads == len(before) - 10
    assert everything(store) == before
    assert (
        log_of(store).read(["facts"], 20, 5) == [one for one in before if one.topic == "facts" and one.offset > 20][:5]
    )
    store.rebuild()
    store.rebuild(from_raw=True)
    assert memory.digest() == digest
    event = memory.get({"source": "chat", "id": "m3"})
    assert event is not None and event["data"]["content"] == f"{SECRET} 3"


def test_compacting_again_moves_only_what_is_new(store: Store) -> None:
    memory = fill(store)
    store.compact(keep=0)
    assert store.compact(keep=0).payloads == 0
    memory.remember("user:ana", "city", "Lisbon")
    assert store.compact(keep=0).payloads == 1
    assert memory.recall("user:ana", "city").value == "Lisbon"


def test_the_log_gives_its_room_back(store: Store) -> None:
    memory = store.memory(NS)
    for number in range(50):
        memory.transcript("s", number, "user", "long " * 4_000)
    done = store.compact(keep=0)
    assert done.log_bytes_after < done.log_bytes_before / 3
    assert done.segment_bytes < done.log_bytes_before / 3


def test_i5_what_is_destroyed_is_gone_from_the_segments_too(store: Store, data: Path) -> None:
    fill(store)
    store.compact(keep=0)
    names = {file.name for file in (data / "segments").iterdir()}
    assert log_of(store).destroy_payload("raw.transcripts", NS, "chat", "m3")
    assert not log_of(store).destroy_payload("raw.transcripts", NS, "chat", "m3")
    left = [one for one in everything(store) if one.topic == "raw.transcripts"]
    assert [one.id for one in left if one.payload is None] == ["m3"]
    assert len({file.name for file in (data / "segments").iterdir()} - names) == 1
    assert len(list((data / "segments").iterdir())) == len(names)


def test_a_backup_takes_the_segments_along(store: Store, tmp_path: Path) -> None:
    memory = fill(store)
    store.compact(keep=5)
    made = store.backup(tmp_path / "saved", tried=True)
    assert made.digests == {NS: memory.digest()}
    with Store.open(made.path) as restored:
        assert everything(restored) == everything(store)


def test_a_page_of_moved_payloads_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    before = everything(store)
    store.compact(keep=0)
    monkeypatch.setattr(compaction, "READ_BYTES_MAX", 2_000)
    found: list[Stored] = []
    while batch := log_of(store).read([*RAW, "facts"], found[-1].offset if found else 0, 10_000):
        assert len(batch) < 30
        found += batch
    assert found == before
    assert ports.READ_BYTES_MAX > 2_000


def test_a_missing_or_damaged_segment_is_told(store: Store, data: Path) -> None:
    fill(store)
    store.compact(keep=0)
    first, second = sorted((data / "segments").iterdir())[:2]
    first.unlink()
    with pytest.raises(LogCorrupt, match="missing"):
        everything(store)
    shutil.copy(second, first)
    second.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(LogCorrupt, match="cannot be read"):
        everything(store)


def test_who_has_no_reader_of_segments_is_told(store: Store, data: Path) -> None:
    fill(store)
    store.compact(keep=0)
    bare = SqliteLog.open(str(data / "log.sqlite"), clock_us=lambda: 0)
    with pytest.raises(LogUnavailable, match="segments"):
        bare.read(["facts"], 0, 10)
    bare.close()


def test_i11_a_killed_compaction_loses_and_doubles_nothing(data: Path) -> None:
    chance = random.Random(5)
    with Store.open(data) as store:
        fill(store, 150)
        before = everything(store)
    for _ in range(4):
        with child(COMPACT, [data]) as process:
            time.sleep(0.3 + chance.random() * 0.3)
            process.kill()
            process.wait()
        with Store.open(data) as store:
            assert everything(store) == before
    with Store.open(data) as store:
        store.compact(keep=0)
        assert everything(store) == before


def test_appends_and_reads_go_on_during_a_compaction(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "SEGMENT_RECORDS_MAX", 200)
    with Store.open(data) as store:
        fill(store)
        before = everything(store)
        with child(INGEST, [data, 1000, 20, "append", "0.1"]) as ingest:
            for _ in range(3):
                store.compact(keep=0)
                assert everything(store)[: len(before)] == before
            ingest.kill()
            ingest.wait()
            appended = int(lines(ingest)[-1]) - 1000
        assert store.status(NS).events >= 80 + appended
        digest = store.digest(NS)
        store.compact(keep=0)
        store.rebuild()
        assert store.digest(NS) == digest

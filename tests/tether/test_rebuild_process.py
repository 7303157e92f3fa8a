"""A rebuild in a process of its own: beside the owner of the views, killed at any moment, without room on the disk."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tether.processes import INGEST, REBUILD, child, lines
from tether import Memory, Store

NS = "acme"


def fill(store: Store, count: int = 400) -> Memory:
    """Verdicts that rest on one another, some of them failed."""
    memory = store.memory(NS)
    memory.append_many(
        [
            {
                "specversion": "1.0", "id": f"{number:08d}", "source": "ci", "type": "tether.tool_result.v1",
                "time": f"2026-01-01T00:00:00.{number:06d}Z", "data": {
                    "tool": "memory.write", "arguments": {
                        "subject": f"item:part{number}@1", "predicate": "passes", "value": number % 97 != 0,
                        "derived_from": [f"item:part{max(number - 7, 0)}@1"],
                    }, "result": None, "is_error": False,
                },
            }
            for number in range(count)
        ]
    )  # fmt: skip
    return memory


def test_the_owner_in_another_process_takes_a_promotion_over(data: Path) -> None:
    with Store.open(data) as store:
        memory = fill(store)
        digest = memory.digest()
        with child(REBUILD, [data, "facts"]) as process:
            process.wait()
            assert lines(process)[-1] == "built 2\n"
        assert store.status().generation == "2"
        assert memory.digest() == digest


def test_i2_promotions_under_concurrent_ingest_lose_and_double_nothing(data: Path) -> None:
    with Store.open(data) as store:
        memory = fill(store)
        memory.recall("item:part0@1", "passes")
        with child(INGEST, [data, 1000, 20, "append", "0.1"]) as ingest:
            for mode in ("facts", "raw", "facts"):
                with child(REBUILD, [data, mode]) as process:
                    while process.poll() is None:
                        assert memory.recall("item:part0@1", "passes").value is False
                    assert lines(process)[-1].startswith("built")
            ingest.kill()
            ingest.wait()
            appended = int(lines(ingest)[-1]) - 1000
        assert store.status().generation == "4"
        assert store.status(NS).events >= 400 + appended
        digest = memory.digest()
        store.rebuild()
        assert memory.digest() == digest
        seqs = [one.seq for one in memory.changes(limit=100_000)]
        assert seqs == sorted(set(seqs))


def rounds(data: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    with Store.open(data) as store:
        digest = fill(store).digest()
    for number in range(count):
        with child(REBUILD, [data, "raw" if number % 3 == 2 else "facts"]) as process:
            time.sleep(chance.random() * 0.9)
            process.kill()
            process.wait()
        with Store.open(data) as store:
            assert store.memory(NS).digest() == digest
            assert len(store.memory(NS).changes(limit=100_000)) == 400
    with Store.open(data) as store:
        store.rebuild()
        assert store.memory(NS).digest() == digest
        assert all(one.finished for one in store.generations())


def test_i10_a_killed_rebuild_leaves_the_live_view_and_the_next_one_ends(data: Path) -> None:
    rounds(data, 4, seed=3)


@pytest.mark.slow
def test_i10_many_killed_rebuilds(data: Path) -> None:
    rounds(data, 50, seed=4)


def test_a_full_disk_during_a_rebuild_leaves_the_live_view_and_says_so(data: Path) -> None:
    with Store.open(data) as store:
        digest = fill(store).digest()
    room = (data / "views-1.duckdb").stat().st_size // 3
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))\n{REBUILD}"
    ended = subprocess.run([sys.executable, "-c", limited, str(data), "facts"], capture_output=True, text=True)
    assert "ViewUnavailable" in ended.stdout, ended.stdout + ended.stderr
    assert "free space" in ended.stdout
    with Store.open(data) as store:
        assert store.status().generation == "1"
        assert store.memory(NS).digest() == digest
        assert store.rebuild().generation == "2"
        assert store.memory(NS).digest() == digest

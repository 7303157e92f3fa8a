"""kill -9 at random moments of ingest and of reading: nothing that has a receipt is lost, nothing is doubled."""

import random
import shutil
import time
from pathlib import Path

import pytest

from tests.tether.processes import INGEST, child, lines
from tether import Store

EVENTS_MAX = 2_000


def ingest_and_kill(data: Path, first: int, chance: random.Random, mode: str) -> int:
    """One round: the number up to which receipts were seen. The moment is random, from start-up to some batches in."""
    with child(INGEST, [data, first, chance.choice([1, 10, 200]), mode]) as process:
        time.sleep(chance.random() * 0.6)
        process.kill()
        process.wait()
        said = lines(process)
    return int(said[-1]) if said else first


def check(data: Path, receipts: int) -> None:
    """Everything up to `receipts` is there once, and the view equals one that is made anew from the log."""
    with Store.open(data, create=False) as store:
        events = store.status("acme").events
        assert events >= receipts
        memory = store.memory("acme")
        for number in range(0, receipts, max(1, receipts // 50)):
            assert memory.get({"source": "ci", "id": f"{number:08d}"}) is not None
            assert len(memory.history(f"item:part{number}@1", "passes")) == 1
        assert store.dead_letters() == []
        digest = store.digest("acme")
    copy = data.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    shutil.copy(data / "log.sqlite", copy)
    with Store.open(copy) as fresh:
        assert fresh.status("acme").events == events
        assert fresh.digest("acme") == digest


def rounds(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    first, data = 0, folder / "0"
    for number in range(count):
        if first > EVENTS_MAX:  # a new directory, so that checking takes no longer in later rounds
            first, data = 0, folder / str(number)
        receipts = ingest_and_kill(data, first, chance, "read" if number % 2 else "append")
        check(data, receipts)
        with Store.open(data) as store:
            first = max(first, store.status("acme").events)  # what was appended and lost its receipt counts too


def test_a_killed_ingest_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """I-10 and I-11: rows and position move together, and every event with a receipt is in the view."""
    rounds(tmp_path, 4, seed=1)


@pytest.mark.slow
def test_fifty_killed_ingests_lose_and_double_nothing(tmp_path: Path) -> None:
    """I-10 and I-11"""
    rounds(tmp_path, 50, seed=2)

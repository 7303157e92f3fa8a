"""Several processes on one data directory: all append, one reads."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.tether.processes import INGEST, OWNER, child
from tether import Store, ViewLocked


def test_a_view_that_another_process_owns_is_refused_by_its_name(data: Path) -> None:
    with child(OWNER, [data]) as owner, Store.open(data) as store:
        memory = store.memory("acme")
        memory.remember("user:ana", "city", "Turin")
        with pytest.raises(ViewLocked, match=f"owned by process {owner.pid} .*Appending needs no view") as caught:
            memory.recall("user:ana", "city")
        assert str(owner.pid) in caught.value.owner
        owner.communicate("done\n", timeout=30)
        assert memory.recall("user:ana", "city").value == "Turin"


def test_the_view_of_a_killed_process_is_free(data: Path) -> None:
    with child(OWNER, [data]) as owner:
        owner.kill()
        owner.wait()
        with Store.open(data) as store:
            assert store.memory("acme").recall("user:ana", "city").status == "unknown"


def test_many_processes_append_and_one_reads_them_all(data: Path) -> None:
    """I-11"""
    with Store.open(data) as store:
        memory = store.memory("acme")
        memory.recall("user:ana", "city")

        def work(number: int) -> int:
            """Let a process append until it has said how far it is a few times; how far that was."""
            with child(INGEST, [data, number * 10_000, 20, "append"]) as process:
                assert process.stdout is not None
                said = [int(process.stdout.readline()) for _ in range(5)]
            return said[-1]

        with ThreadPoolExecutor(3) as pool:
            reached = list(pool.map(work, range(3)))
        for number, end in enumerate(reached):
            for one in range(number * 10_000, end):
                assert memory.get({"source": "ci", "id": f"{one:08d}"}) is not None

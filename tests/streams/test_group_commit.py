"""Callers that wait at the same time share one transaction, and a failure or an interrupt touches nobody else."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from tether_schemas.errors import LogUnavailable
from tether_streams.embedded.group import Batch, GroupCommit
from tether_streams.ports import Appended

from tests.contracts.log_contract import record

WAIT_S = 60

Fault = Callable[[list[list[str]]], BaseException | None]


def no_fault(group: list[list[str]]) -> None:
    """Every transaction succeeds."""


class Gate:
    """A transaction that notes the ids of each group; the first one is held until the test opens it."""

    def __init__(self, fault: Fault = no_fault, group_records_max: int = 100) -> None:
        self.groups: list[list[list[str]]] = []
        self._fault = fault
        self._entered = threading.Event()
        self._opened = threading.Event()
        self.commit = GroupCommit(self._transact, group_records_max)

    def _transact(self, batches: list[Batch]) -> list[list[Appended]]:
        group = [[one.id for one in batch] for batch in batches]
        self.groups.append(group)
        self._entered.set()
        assert self._opened.wait(WAIT_S)
        fault = self._fault(group)
        if fault is not None:
            raise fault
        return [[Appended(len(self.groups), 0) for _ in batch] for batch in batches]

    def run(self, *sizes: int) -> list[Future[list[Appended]]]:
        """Caller 0 leads; the others queue, in order, while its transaction is held. Caller n appends n.0, n.1, …"""
        with ThreadPoolExecutor(len(sizes)) as pool:
            futures: list[Future[list[Appended]]] = []
            for number, size in enumerate(sizes):
                batch = [record(f"{number}.{place}") for place in range(size)]
                futures.append(pool.submit(self.commit.submit, batch))
                assert self._entered.wait(WAIT_S)
                while self.commit.waiting < number:
                    pass
            self._opened.set()
        return futures


def offsets(futures: list[Future[list[Appended]]]) -> list[list[int]]:
    return [[answer.offset for answer in future.result()] for future in futures]


def test_callers_that_wait_share_the_next_transaction() -> None:
    gate = Gate()
    answers = offsets(gate.run(1, 2, 0, 1))
    assert gate.groups == [[["0.0"]], [["1.0", "1.1"], [], ["3.0"]]]
    assert answers == [[1], [2, 2], [], [2]]


def test_a_group_is_bounded_and_served_first_come_first_served() -> None:
    gate = Gate(group_records_max=3)
    gate.run(1, 2, 1, 2, 9, 1)
    assert [[batch[0][0] for batch in group] for group in gate.groups] == [["0"], ["1", "2"], ["3"], ["4"], ["5"]]


def test_a_batch_that_cannot_be_stored_fails_alone() -> None:
    def fault(group: list[list[str]]) -> BaseException | None:
        return ValueError("no") if ["2.0"] in group else None

    futures = Gate(fault).run(1, 1, 1, 1)
    assert [future.exception() is None for future in futures] == [True, True, False, True]
    assert isinstance(futures[2].exception(), ValueError)


def test_a_log_that_is_unavailable_fails_the_group_and_serves_the_next() -> None:
    def fault(group: list[list[str]]) -> BaseException | None:
        return LogUnavailable("log", "full") if ["1.0"] in group else None

    gate = Gate(fault)
    futures = gate.run(1, 1, 1)
    assert [type(future.exception()) for future in futures] == [type(None), LogUnavailable, LogUnavailable]
    assert len(gate.groups) == 2
    assert gate.commit.submit([record("later")]) == [Appended(3, 0)]


@pytest.mark.parametrize("interrupted", ["0.0", "1.0"])
def test_an_interrupted_leader_leaves_the_others_to_the_next(interrupted: str) -> None:
    def fault(group: list[list[str]]) -> BaseException | None:
        return KeyboardInterrupt() if group[0] == [interrupted] else None

    gate = Gate(fault)
    futures = gate.run(1, 1, 1, 1)
    failed = [number for number, future in enumerate(futures) if future.exception() is not None]
    assert failed == [int(interrupted[0])]
    assert gate.commit.waiting == 0
    assert len(gate.commit.submit([record("later")])) == 1

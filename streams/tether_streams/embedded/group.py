"""Group commit: callers that wait at the same time share one transaction, and so one wait for the disk."""

import threading
from collections.abc import Callable, Sequence

from tether_schemas.errors import TetherError

from tether_streams.ports import Appended, NewRecord

Batch = Sequence[NewRecord]


class _Ticket:
    """One caller's batch on its way into a transaction: it has `answers` or an `error` once it is settled."""

    __slots__ = ("answers", "batch", "error", "wake")

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.answers: list[Appended] | None = None
        self.error: Exception | None = None
        self.wake = threading.Lock()  # released when the ticket is settled, or when its owner is to lead
        self.wake.acquire()

    @property
    def settled(self) -> bool:
        return self.answers is not None or self.error is not None


class GroupCommit:
    """One caller leads at a time: it commits what waits, first come first served, and hands over to who came meanwhile.

    `transact` takes batches and gives the answers of each, in one transaction; when it raises, nothing was written.
    """

    def __init__(self, transact: Callable[[list[Batch]], list[list[Appended]]], group_records_max: int) -> None:
        """`group_records_max` bounds a group; a batch above it goes alone."""
        self._transact = transact
        self._group_records_max = group_records_max
        self._mutex = threading.Lock()  # guards the three below
        self._leader: _Ticket | None = None
        self._waiting: list[_Ticket] = []  # Invariant: one ticket per thread at most, since each waits for its own
        self._group: list[_Ticket] = []  # what the leader is committing

    @property
    def waiting(self) -> int:
        """How many callers wait for the next transaction."""
        return len(self._waiting)

    def submit(self, batch: Batch) -> list[Appended]:
        """The answers for this batch, once it is committed. Raises what `transact` raises for it.

        An interrupt (KeyboardInterrupt) leaves open whether this batch is committed; nobody else's is touched by it.
        """
        ticket = _Ticket(batch)
        try:
            with self._mutex:
                self._waiting.append(ticket)
                if self._leader is None:
                    self._leader = ticket
            if self._leader is not ticket:
                ticket.wake.acquire()
            if not ticket.settled:
                self._settle(self._take())
        finally:
            self._leave(ticket)
        if ticket.error is not None:
            raise ticket.error
        assert ticket.answers is not None
        return ticket.answers

    def _take(self) -> list[_Ticket]:
        """The leader's group: its own ticket, which is the oldest, and as many of the next as the limit allows."""
        with self._mutex:
            group = self._group = [self._waiting.pop(0)]
            size = len(group[0].batch)
            while self._waiting and size + len(self._waiting[0].batch) <= self._group_records_max:
                group.append(self._waiting.pop(0))
                size += len(group[-1].batch)
            return group

    def _settle(self, group: list[_Ticket]) -> None:
        try:
            answers = self._transact([ticket.batch for ticket in group])
        except TetherError as error:
            for ticket in group:
                ticket.error = error
        except Exception as error:
            if len(group) == 1:
                group[0].error = error
                return
            for ticket in group:  # one of them holds what cannot be stored: it alone fails
                self._settle([ticket])
        else:
            for ticket, answer in zip(group, answers, strict=True):
                ticket.answers = answer

    def _leave(self, ticket: _Ticket) -> None:
        """End one caller's part, however it ended: a leader wakes its group and hands over to the oldest that waits."""
        if ticket.settled and self._leader is not ticket:
            return
        with self._mutex:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if self._leader is not ticket:
                return
            others = [other for other in self._group if other is not ticket]
            self._group = []
            self._waiting[:0] = [other for other in others if not other.settled]  # this leader was interrupted
            self._leader = self._waiting[0] if self._waiting else None
            for other in others:
                if other.settled or other is self._leader:
                    _wake(other)
            if self._leader is not None:
                _wake(self._leader)


def _wake(ticket: _Ticket) -> None:
    if ticket.wake.locked():
        ticket.wake.release()

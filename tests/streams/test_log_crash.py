"""kill -9 at random moments of appending. `TETHER_TEST_SEED` repeats a run, `TETHER_CRASH_ROUNDS` sets the rounds."""

import contextlib
import multiprocessing
import os
import random
import threading
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

from tether_schemas.topics import FACTS, RAW, TOOL_RESULTS
from tether_streams.embedded.log import SqliteLog
from tether_streams.ports import Appended, NewLetter, Stored

from tests.contracts.log_contract import Clock, read_all, record

ROUNDS = int(os.environ.get("TETHER_CRASH_ROUNDS", "8"))
SEED = int(os.environ.get("TETHER_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32)
THREADS = 3
BATCH_MAX = 120
ANSWER_S = 120  # a child that has not answered by then hangs

Acknowledged = tuple[int, int, list[Appended]]  # thread, batch, and what append answered


def names(thread: str, batch: int) -> list[str]:
    """The ids of one batch: from one record to many, so that a kill falls into commits of every size."""
    return [f"{thread}:{batch}:{number}" for number in range(1 + (batch * 37) % BATCH_MAX)]


def append_until_killed(place: str, name: str, pipe: Connection) -> None:
    """A child's work: threads append batch after batch, and each tells the parent only after its append returned."""
    log = SqliteLog.open(place, clock_us=Clock())
    telling = threading.Lock()

    def append(thread: int) -> None:
        batch = 0
        while True:
            own = [record(id, payload=id.encode() * 20) for id in names(f"{name}:{thread}", batch)]
            facts = [record(id, FACTS, payload=b"") for id in names(f"{name}:{thread}", batch)]
            answers = log.append([*own, *facts])
            with telling:
                pipe.send((thread, batch, answers))
            batch += 1

    for thread in range(THREADS):
        threading.Thread(target=append, args=(thread,)).start()


def crash(place: str, name: str, acknowledgements: int) -> list[Acknowledged]:
    """Start a child, kill it once it has told of so many appends, and return all that it told of."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=append_until_killed, args=(place, name, sender))
    child.start()
    sender.close()
    told: list[Acknowledged] = []
    try:
        while len(told) < acknowledgements:
            assert receiver.poll(ANSWER_S), "the child is stuck"
            told.append(receiver.recv())
    finally:
        child.kill()
        child.join()
    with contextlib.suppress(EOFError, OSError), receiver:
        while True:  # what it told between our decision and its end
            told.append(receiver.recv())
    return told


def check(stored: list[Stored], name: str, told: list[Acknowledged]) -> None:
    """Each acknowledged record is where its writer was told, and each batch is there whole or not at all."""
    at = {one.offset: one for one in stored}
    per_batch = Counter((one.topic, one.id.rpartition(":")[0]) for one in stored if one.id.startswith(f"{name}:"))
    for thread, batch, answers in told:
        wanted = [(topic, id) for topic in (TOOL_RESULTS, FACTS) for id in names(f"{name}:{thread}", batch)]
        assert [(at[answer.offset].topic, at[answer.offset].id) for answer in answers] == wanted
    for (topic, batch_name), count in per_batch.items():
        thread, _, batch = batch_name.rpartition(":")
        assert count == len(names(thread, int(batch))), f"{topic} {batch_name} is there in part"


def rounds(place: str, count: int) -> None:
    chance = random.Random(SEED)
    before: list[Stored] = []
    for number in range(count):
        told = crash(place, str(number), chance.randrange(1, 60))
        log = SqliteLog.open(place, clock_us=Clock())
        stored = read_all(log)
        assert len({(one.topic, one.id) for one in stored}) == len(stored)
        assert all(one.payload is not None for one in stored)
        assert stored[: len(before)] == before
        check(stored, str(number), told)
        thread, batch, answers = told[-1]
        again = log.append([record(id, payload=b"other bytes") for id in names(f"{number}:{thread}", batch)])
        assert again == [answer._replace(duplicate=True) for answer in answers[: len(again)]]
        log.close()
        before = stored


def test_after_kill_9_every_acknowledged_record_is_there_and_none_twice(tmp_path: Path) -> None:
    """I-1 and I-11: nothing is lost after its receipt, doubled or edited, and no batch is there in part."""
    print(f"TETHER_TEST_SEED={SEED}")
    rounds(str(tmp_path / "log.sqlite"), ROUNDS)


def open_and_add_letters_until_killed(place: str, pipe: Connection) -> None:
    """A child's work: it opens the log anew for each dead letter, so that a kill falls into making and opening, too."""
    number = 0
    while True:
        log = SqliteLog.open(place, clock_us=Clock())
        pipe.send((number, log.letters.add([NewLetter("acme", "append", "bad", str(number).encode(), str(number))])[0]))
        log.close()
        number += 1


def test_a_kill_while_the_log_is_made_or_opened_loses_no_letter(tmp_path: Path) -> None:
    """I-11: a dead letter that was kept is there after a kill, once."""
    chance = random.Random(SEED)
    context = multiprocessing.get_context("spawn")
    for number in range(4):
        place = str(tmp_path / f"{number}.sqlite")
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=open_and_add_letters_until_killed, args=(place, sender))
        child.start()
        sender.close()
        told: list[tuple[int, int]] = []
        for _ in range(chance.randrange(1, 8)):
            assert receiver.poll(ANSWER_S), "the child is stuck"
            told.append(receiver.recv())
        child.kill()
        child.join()
        receiver.close()
        log = SqliteLog.open(place, clock_us=Clock())
        letters = {letter.id: letter.payload for letter in log.letters.list(0, 1000)}
        assert [letters[id] for _, id in told] == [str(number).encode() for number, _ in told]
        assert len(set(letters.values())) == len(letters)
        assert log.end(RAW) == 0
        log.close()

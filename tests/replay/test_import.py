"""What an import refuses, and what it says; a kill at any moment; a ghost in the log."""

import io
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tether_schemas.errors import BadRequest, EventConflict, TetherError, UnknownVersion
from tether_schemas.ghosts import GHOST_HASH
from tether_schemas.topics import RAW
from tether_streams.embedded.log import SqliteLog

from tests.raw import Json, deletion, tool_result, transcript, write
from tests.replay.test_round_trip import bytes_in
from tether import Imported, Store

IMPORTER = """
import sys
from tether_replay import lines
from tether import Store
lines.BATCH_LINES_MAX = 7
with Store.open(sys.argv[1]) as store:
    print("ready", flush=True)
    store.import_(sys.argv[2])
"""


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "one") as store:
        yield store


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "two") as store:
        yield store


def exported(store: Store) -> bytes:
    out = io.BytesIO()
    store.export(out)
    return out.getvalue()


def imported(store: Store, data: bytes, namespace: str | None = None) -> Imported:
    return store.import_(io.BytesIO(data), namespace=namespace)


def counts(done: Imported) -> dict[str, int]:
    """What is not zero."""
    names = ("new", "ghosts", "erased_since", "duplicates", "conflicts", "refused")
    return {name: done.total(name) for name in names if done.total(name)}


def named(event: Json, name: str, **attributes: str) -> Json:
    """The event with this id."""
    return {**event, "id": name, **attributes}


def ghost_line(store: Store) -> Json:
    """The ghost of a deleted note, as an export writes it."""
    store.append(named(write(value="gone", original_text="it is gone"), "w"))
    store.append(named(deletion({"evidence": {"source": "ci", "id": "w"}}), "d"))
    return orjson.loads(exported(store).splitlines()[1])


def in_log(place: Path) -> int:
    """How many events a log has that another process writes."""
    try:
        log = SqliteLog.open(str(place / "log.sqlite"), clock_us=lambda: 0)
    except TetherError:
        return 0  # it is being made
    try:
        return log.end(RAW)
    finally:
        log.close()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "is empty"),
        (b"not json\n", "line 1 "),
        (b"\x00\xff\xfe" * 50, "line 1 "),
        (b"[]\n", "line 1 "),
        (b'{"export":null}\n', "line 1 "),
        (b'{"specversion":"1.0"}\n', "tether ingest"),
        (b'{"export":{"format":"other","version":1}}\n', "no head of an export"),
        (b'{"export":{"format":"tether.export","version":"x"}}\n', "line 1 "),
    ],
)
def test_a_file_that_is_no_export_is_refused_whole(two: Store, data: bytes, text: str) -> None:
    with pytest.raises(BadRequest, match=text):
        imported(two, data)
    assert two.dead_letters() == []


def test_an_export_of_a_newer_tether_is_refused(two: Store) -> None:
    with pytest.raises(UnknownVersion):
        imported(two, b'{"export":{"format":"tether.export","version":2,"more":[]}}\n')


def test_a_file_that_is_not_there_is_named(two: Store, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="nowhere"):
        two.import_(tmp_path / "nowhere")


def test_i11_bad_lines_are_dead_letters_with_their_numbers_and_the_others_come_in(one: Store, two: Store) -> None:
    one.append_many([orjson.dumps(named(transcript(), f"t{number}")) for number in range(3)])
    head, *body, end = exported(one).splitlines()
    bad = [b"{", b"\xff\xfe\x00", b'{"ghost":{}}', b'{"specversion":"1.0"}', head]
    done = imported(two, b"\n".join([head, body[0], *bad, *body[1:], end]) + b"\n")
    assert counts(done) == {"new": 3, "refused": 5}
    assert [reason.partition(":")[0] for reason in done.reasons] == [f"line {number}" for number in range(3, 8)]
    assert [letter.payload for letter in two.dead_letters()] == bad
    assert not done.whole


def test_importing_bad_lines_again_adds_no_letter(one: Store, two: Store) -> None:
    head, *_ = exported(one).splitlines()
    for _ in range(2):
        imported(two, head + b"\n{\n")
    assert len(two.dead_letters()) == 1


def test_a_line_that_is_too_long_is_cut_and_the_next_is_read(
    one: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.append(transcript("short"))
    head, body, end = exported(one).splitlines()
    monkeypatch.setenv("TETHER_PAYLOAD_BYTES_MAX", "1024")
    with Store.open(tmp_path / "two") as two:
        assert counts(imported(two, b"\n".join([head, b"x" * 500_000, body, end]))) == {"new": 1, "refused": 1}
        assert len(two.dead_letters()[0].payload) == 1024 + 256 * 1024 + 1


@pytest.mark.parametrize("lost", [1, 2, 3, 40])
def test_a_file_that_was_cut_off_is_told_and_what_it_had_is_in(one: Store, two: Store, lost: int) -> None:
    one.append_many([orjson.dumps(named(transcript(), f"t{number}")) for number in range(4)])
    whole = exported(one)
    assert imported(two, whole[:-1]).whole  # but for the newline
    with Store.open(one.path.with_name("three")) as three:
        assert not imported(three, whole[: -1 - lost]).whole
        assert counts(imported(three, whole)) in ({"duplicates": 4}, {"duplicates": 3, "new": 1})


def test_two_files_in_one_are_told(one: Store, two: Store) -> None:
    one.append(transcript())
    done = imported(two, exported(one) * 2)
    assert (counts(done), done.whole) == ({"new": 1, "refused": 3}, False)


def test_i1_an_id_that_is_taken_by_other_content_is_a_conflict_and_a_dead_letter(one: Store, two: Store) -> None:
    one.append(transcript("mine"))
    two.append(transcript("yours"))
    done = imported(two, exported(one))
    assert (counts(done), done.whole) == ({"conflicts": 1}, True)
    assert "already recorded with other content" in done.reasons[0]
    assert b"mine" in two.dead_letters()[0].payload


def test_i5_what_is_erased_here_and_conflicts_is_no_dead_letter(one: Store, two: Store) -> None:
    """Its content would be kept there."""
    one.append(named(write(value="mine-secret"), "w"))
    two.append(named(write(value="yours"), "w"))
    two.append(named(deletion({"source": "ci"}), "d"))
    assert counts(imported(two, exported(one))) == {"conflicts": 1}
    assert two.dead_letters() == [] and b"mine-secret" not in bytes_in(two.path)


def test_i8_only_the_lines_of_a_namespace_come_in(one: Store, two: Store) -> None:
    one.append(named(write(), "a"))
    one.append(named(write(value="theirs"), "b", namespace="beta"))
    done = imported(two, exported(one), namespace="beta")
    assert (counts(done), done.skipped, done.whole) == ({"new": 1}, 1, True)
    assert two.status("acme").events == 0


def test_a_pipe_is_read_also_where_it_must_be_read_twice(one: Store, two: Store) -> None:
    one.append(named(write(value="secret"), "w"))
    two.append(named(deletion({"source": "ci"}), "d"))
    reading, writing = os.pipe()
    os.write(writing, exported(one))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert counts(two.import_(pipe)) == {"ghosts": 1, "erased_since": 1}
    assert b"secret" not in bytes_in(two.path)


def test_ghosts_that_were_ghosts_already_are_not_counted_as_erased_since(one: Store, two: Store) -> None:
    ghost_line(one)
    two.append(named(deletion({"source": "other"}), "x"))
    assert counts(imported(two, exported(one))) == {"new": 1, "ghosts": 1}


def test_i1_the_id_of_a_ghost_is_taken(one: Store, two: Store) -> None:
    """Nobody can tell whether it is the same, and what it said must not come back."""
    ghost_line(one)
    imported(two, exported(one))
    with pytest.raises(EventConflict):
        two.append(named(write(value="gone"), "w"))


def test_i5_a_summary_that_came_before_its_deleted_chat_comes_in_as_a_ghost(one: Store, two: Store) -> None:
    """The erasure of a whole file is known before its first event is written."""
    chain = [("s2", "s1"), ("s1", "chat")]
    for name, of in chain:
        event = named(write(value=f"secret {name}", derived_from=[{"source": "ci", "id": of}]), name)
        one.append(event)
    one.append(named(write(value="secret chat"), "chat", time="2026-01-01T00:00:00Z"))
    two.append(named(deletion({"evidence": {"source": "ci", "id": "chat"}}), "d"))
    assert counts(imported(two, exported(one))) == {"ghosts": 3, "erased_since": 3}
    assert b"secret" not in bytes_in(two.path)


def test_i6_equal_values_stay_equal_and_a_verdict_keeps_its_effect(one: Store, two: Store) -> None:
    """Two sources said what was deleted since; a third, which is kept, says the same as one of them."""
    said = [("a", "tea"), ("b", "tea"), ("c", "coffee"), ("d", "coffee")]
    for source, value in said:
        one.append(write(value=value) | {"source": source, "id": source})
    failed = {"subject": "item:x@1", "predicate": "passes", "value": False}
    one.append(tool_result("memory.write", failed) | {"source": "a", "id": "f"})
    gone = [named(deletion({"source": source}), f"d{source}") for source in "abc"]
    data = exported(one)
    two.append_many([orjson.dumps(event) for event in gone])
    assert counts(imported(two, data)) == {"new": 1, "ghosts": 4, "erased_since": 4}
    one.append_many([orjson.dumps(event) for event in gone])
    assert two.digest("acme") == one.digest("acme")
    assert two.memory("acme").recall("user:ana", "drinks").status == "disputed"


def test_a_ghost_in_the_log_has_no_payload_and_get_shows_no_facts(one: Store, two: Store) -> None:
    ghost_line(one)
    imported(two, exported(one))
    shown = two.memory("acme").get({"source": "ci", "id": "w"})
    assert shown is not None and shown.keys() == {"specversion", "id", "source", "type", "time", "namespace"}


def test_rules_of_a_deleted_decision_stay_in_force(one: Store, two: Store) -> None:
    """What they mean for later events is their effect."""
    assertion = {"subject": "user:{result.who}", "predicate": "likes", "value": "{result.what}"}
    document = {"version": 1, "rules": [{"name": "r", "tool": "likes", "assertion": assertion}]}
    data = {"action": "policy", "rules": document, "decided_by": "ana"}
    one.append(transcript() | {"type": "tether.decision.v1", "source": "ops", "id": "r", "data": data})
    one.append(tool_result("likes", result={"who": "ana", "what": "tea"}))
    one.append(named(deletion({"source": "ops"}), "d"))
    imported(two, exported(one))
    assert two.memory("acme").recall("user:ana", "likes").value == "tea"
    assert two.digest("acme") == one.digest("acme")


def test_i11_a_ghost_that_says_what_extraction_never_would_is_refused(one: Store, two: Store) -> None:
    """What got in unchecked would stop the view."""
    ghost = ghost_line(one)
    ghost["ghost"]["facts"][1]["observed_at"] = "never"
    head, *_, end = exported(one).splitlines()
    assert counts(imported(two, b"\n".join([head, orjson.dumps(ghost), end]))) == {"refused": 1}
    assert two.status().events == 0


def test_a_ghost_from_the_future_is_refused(one: Store, two: Store) -> None:
    ghost = ghost_line(one) | {"time": "2099-01-01T00:00:00Z"}
    head, *_, end = exported(one).splitlines()
    assert "ahead of the log's clock" in imported(two, b"\n".join([head, orjson.dumps(ghost), end])).reasons[0]


def test_the_log_keeps_no_hash_of_what_a_ghost_said(one: Store, two: Store) -> None:
    """It could be guessed by."""
    assert "content_hash" not in exported(one).decode()
    ghost_line(one)
    imported(two, exported(one))
    [stored] = two._home.log.read(["raw.tool-results"], 0, 9)  # pyright: ignore[reportPrivateUsage]  # looks inside
    assert (stored.content_hash, stored.payload) == (GHOST_HASH, None)


def test_i10_i11_a_killed_import_loses_and_doubles_nothing(one: Store, tmp_path: Path) -> None:
    chance = random.Random(7)
    events = [write(value=f"v{number}") | {"id": f"e{number}", "source": "ci"} for number in range(1_500)]
    one.append_many([orjson.dumps(event) for event in events])
    one.append(named(deletion({"subject": "user:ben"}), "d"))
    one.export(tmp_path / "file")
    killed = 0
    for number in range(3):
        place = tmp_path / f"k{number}"
        command = [sys.executable, "-c", IMPORTER, str(place), str(tmp_path / "file")]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            while not in_log(place):
                time.sleep(0.001)
            time.sleep(chance.random() * 0.05)
            process.kill()
        with Store.open(place) as store:
            done = store.import_(tmp_path / "file")
            assert done.whole and done.total("new") + done.total("duplicates") == 1_501
            killed += 0 < done.total("duplicates") < 1_501
            assert store.digest("acme") == one.digest("acme")
            assert store.status().events == 1_501
    assert killed

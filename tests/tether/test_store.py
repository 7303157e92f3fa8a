"""A data directory from the operator's side: made, refused, opened again, its view made anew; dead letters."""

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from tether_streams.embedded.admission import Door

from tether import BadEvent, BadRequest, DataDirectory, LogUnavailable, Memory, Settings, Store, ViewLocked
from tether.compose import Home


def fill(store: Store, count: int = 5) -> str:
    memory = store.memory("acme")
    for number in range(count):
        memory.remember(f"item:part{number}@1", "passes", True, derived_from=[f"item:part{number + 1}@1"])
    memory.remember(f"item:part{count - 1}@1", "passes", False, source="audit")
    return memory.digest()


def views(data: Path) -> list[str]:
    return sorted(path.name for path in data.glob("views-*"))


def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a" / "b") as store:
        assert (store.path / "log.sqlite").exists()


def test_a_missing_directory_is_refused_where_none_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(
        DataDirectory, match=r"does not exist; check the path, or make it .*`tether open`.*create=False"
    ):
        Store.open(tmp_path / "none", create=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataDirectory, match=r"is empty; check the path, or make it .*`tether open`"):
        Store.open(tmp_path / "empty", create=False)
    assert not (tmp_path / "none").exists()


def test_a_foreign_directory_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DataDirectory, match=r"it holds thesis\.txt\); name an empty or new one"):
        Store.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataDirectory, match="is a file; name a directory"):
        Store.open(tmp_path / "file")


def test_a_directory_that_lost_its_log_is_refused(data: Path) -> None:
    with Store.open(data) as store:
        fill(store)
    (data / "log.sqlite").unlink()
    with pytest.raises(DataDirectory, match="restore it from a backup"):
        Store.open(data)


def test_a_log_of_somebody_else_or_of_a_newer_tether_is_refused(data: Path) -> None:
    data.mkdir()
    other = sqlite3.connect(data / "log.sqlite")
    other.executescript("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(DataDirectory, match="no log of Tether"):
        Store.open(data)
    (data / "log.sqlite").unlink()
    Store.open(data).close()
    ours = sqlite3.connect(data / "log.sqlite")
    ours.executescript("INSERT INTO schema_version VALUES (999)")
    ours.close()
    with pytest.raises(DataDirectory, match="upgrade tether"):
        Store.open(data)


def test_everything_is_there_after_a_restart(data: Path) -> None:
    """I-2"""
    with Store.open(data) as store:
        digest = fill(store)
    with Store.open(data) as store:
        assert store.digest("acme") == digest
        assert store.memory("acme").recall("item:part0@1", "passes").status == "withdrawn"
    assert views(data) == ["views-1.duckdb"]


@pytest.mark.parametrize("harm", ["lost", "garbage", "cut", "pointer", "everything"])
def test_a_lost_or_damaged_view_is_made_anew(data: Path, harm: str) -> None:
    """I-2: the log has everything."""
    with Store.open(data) as store:
        digest = fill(store)
    file = data / "views-1.duckdb"
    match harm:
        case "lost":
            file.unlink()
        case "garbage":
            file.write_bytes(b"no database" * 1000)
        case "cut":
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        case "pointer":
            (data / "CURRENT").write_text("gibberish")
        case _:
            file.unlink()
            (data / "CURRENT").unlink()
    with Store.open(data) as store:
        assert store.digest("acme") == digest
        current = (data / "CURRENT").read_text().splitlines()[0]
    assert current in views(data)
    with Store.open(data) as store:
        assert store.digest("acme") == digest


def test_a_view_of_another_log_is_not_believed(data: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other") as store:
        fill(store, 40)
    with Store.open(data) as store:
        digest = fill(store, 3)
    (tmp_path / "other" / "views-1.duckdb").replace(data / "views-1.duckdb")
    with Store.open(data) as store:
        assert store.digest("acme") == digest
        assert store.memory("acme").recall("item:part30@1", "passes").status == "unknown"


def test_a_second_store_of_the_process_appends_and_does_not_read(store: Store, data: Path) -> None:
    store.memory("acme").recall("user:ana", "city")
    with Store.open(data) as second:
        second.memory("acme").remember("user:ana", "city", "Turin")
        with pytest.raises(
            ViewLocked, match=r"through another Store or Memory; read through that one, .* or close it"
        ) as told:
            second.memory("acme").recall("user:ana", "city")
        assert told.value.own and "stop it" not in str(told.value)
        assert store.memory("acme").recall("user:ana", "city").value == "Turin"
        store.close()
        assert second.memory("acme").recall("user:ana", "city").value == "Turin"


def test_an_append_does_not_wait_for_a_reader(data: Path) -> None:
    home = Home.open(data, None, create=True)
    event = {"specversion": "1.0", "id": "1", "source": "ci", "time": "2026-01-01T00:00:00Z", "namespace": "acme"}
    message = {"session_id": "s", "seq": 1, "role": "user", "content": "hi"}
    whole = event | {"type": "tether.transcript.v1", "data": message}
    with home.reading():
        appending = threading.Thread(target=home.runtime.append, args=(whole, Door()))
        appending.start()
        appending.join(timeout=60)
        assert not appending.is_alive() and home.runtime.end() == 1
    home.close()


def test_a_closed_store_says_so(data: Path) -> None:
    store = Store.open(data)
    memory = store.memory("acme")
    store.close()
    store.close()
    for use in (lambda: memory.remember("user:ana", "city", "Turin"), lambda: memory.recall("user:ana", "city")):
        with pytest.raises(LogUnavailable, match="open it again"):
            use()


def test_a_memory_closes_what_it_opened(data: Path) -> None:
    with Memory.open(data, namespace="acme") as memory:
        memory.recall("user:ana", "city")
    with Memory.open(data, namespace="acme", create=False) as memory:
        memory.recall("user:ana", "city")


def test_a_dead_letter_keeps_the_event_whole_until_it_is_mended(store: Store) -> None:
    """I-11"""
    memory = store.memory("acme")
    data = {"session_id": "s", "seq": 1, "role": "user", "content": "hi"}
    bad: dict[str, Any] = {
        "id": "1",
        "source": "ci",
        "specversion": "1.0",
        "type": "tether.transcript.v1",
        "data": data,
    }
    bad["time"] = "soon"
    memory.append_many([bad])
    memory.append_many([bad])
    [letter] = store.dead_letters()
    assert json.loads(letter.payload) == bad and letter.reason.startswith("time:")
    with pytest.raises(BadEvent):
        store.replay_dead_letter(letter.id)
    receipt = store.replay_dead_letter(letter.id, bad | {"time": "2026-01-01T00:00:00Z"})
    assert store.status("acme").events == 1  # where it was refused, since it names no namespace itself
    assert receipt.position is not None and store.dead_letter(letter.id).replayed
    assert store.dead_letters(namespace="beta") == []
    with pytest.raises(BadRequest, match="no dead letter 99"):
        store.dead_letter(99)


def test_what_no_json_can_hold_is_described(store: Store) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no text")

    events = [{"data": {1, 2}}, {"x": float("nan")}, {1: 2}, Odd(), {"x": "\ud800"}, b"\xff", "{"]
    receipts = store.append_many(events)  # pyright: ignore[reportArgumentType]  the mistake itself
    assert all(receipt.rejected for receipt in receipts)
    kept = [letter.payload for letter in store.dead_letters()]
    assert [b'"description"' in payload for payload in kept] == [True, True, True, True, False, False, False]
    assert json.loads(kept[4]) == events[4] and kept[5:] == [b"\xff", b"{"]


def test_a_payload_over_the_limit_is_refused(data: Path) -> None:
    with Store.open(data, settings=Settings(payload_bytes_max=2000)) as store:
        memory = store.memory("acme")
        memory.transcript("s", 1, "user", "x" * 1900)
        with pytest.raises(BadEvent, match=r"data: has \d+ bytes, over the limit of 2000"):
            memory.transcript("s", 2, "user", "x" * 2100)


def test_settings_come_from_the_environment_when_a_store_is_opened(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TETHER_FUTURE_SKEW_MAX_S", "0")
    with Store.open(data) as store, pytest.raises(BadEvent, match="more than 0 s ahead"):
        store.memory("acme").remember("user:ana", "city", "Turin", time="2999-01-01T00:00:00Z")
    monkeypatch.setenv("TETHER_FUTURE_SKEW_MAX_S", "-1")
    with pytest.raises(BadRequest, match="TETHER_FUTURE_SKEW_MAX_S"):
        Store.open(data)


def test_rules_are_in_force_for_what_is_appended_after_them_also_after_a_restart(data: Path) -> None:
    template = {"subject": "item:{arguments.name}@{arguments.version}", "predicate": "passes", "value": "{result.ok}"}
    rules = {"version": 1, "rules": [{"name": "check", "tool": "item.check", "assertion": template}]}
    check = {"name": "grouse", "version": "2"}
    with Store.open(data) as store:
        memory = store.memory("acme")
        memory.tool_result("item.check", {**check, "version": "1"}, {"ok": True})
        store.rules(rules, decided_by="ana")
        memory.tool_result("item.check", check, {"ok": True})
        assert memory.recall("item:grouse@2", "passes").value is True
    with Store.open(data) as store:
        memory = store.memory("acme")
        memory.tool_result("item.check", {**check, "version": "3"}, {"ok": True})
        statuses = [memory.recall(f"item:grouse@{version}", "passes").status for version in (1, 2, 3)]
    assert statuses == ["unknown", "withdrawn", "current"]

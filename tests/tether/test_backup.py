"""A backup is a data directory of its own, taken while the first is in use."""

import shutil
from pathlib import Path

import pytest

from tests.tether.processes import INGEST, child
from tether import DataDirectory, LogCorrupt, Store


def test_a_backup_restores_every_event_with_a_receipt_and_the_same_digest(store: Store, tmp_path: Path) -> None:
    memory = store.memory("acme")
    memory.remember("item:lib@1", "passes", True)
    memory.remember("item:app@1", "passes", True, derived_from=["item:lib@1"])
    memory.remember("item:lib@1", "passes", False)
    made = store.backup(tmp_path / "saved", tried=True)
    memory.remember("user:ana", "city", "Lisbon")
    assert made.events == 3
    assert list(made.digests or {}) == ["acme"]
    with Store.open(made.path, create=False) as restored:
        again = restored.memory("acme")
        assert again.recall("item:app@1", "passes").status == "withdrawn"
        assert again.recall("user:ana", "city").status == "unknown"
        assert again.digest() == (made.digests or {})["acme"]
        again.remember("user:ana", "city", "Porto")
        assert again.recall("user:ana", "city").value == "Porto"


def test_i11_a_backup_under_ingest_holds_whole_transactions_and_all_that_had_a_receipt(
    data: Path, tmp_path: Path
) -> None:
    with Store.open(data) as store, child(INGEST, [data, 0, 100, "append"]) as ingest:
        assert ingest.stdout is not None
        seen = [int(ingest.stdout.readline()) for _ in range(5)][-1]
        made = store.backup(tmp_path / "saved")
        ingest.kill()
        ingest.wait()
    assert made.events >= seen
    assert made.events % 100 == 0


def test_a_backup_takes_no_directory_that_is_there(store: Store, tmp_path: Path) -> None:
    store.memory("acme").remember("user:ana", "city", "Lisbon")
    store.backup(tmp_path / "saved")
    with pytest.raises(DataDirectory, match="is there already"):
        store.backup(tmp_path / "saved")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("saved")] == ["saved"]


def test_a_backup_does_not_lie_within_what_it_is_of(store: Store) -> None:
    with pytest.raises(DataDirectory, match="outside of it"):
        store.backup(store.path / "saved")


def test_a_failed_backup_leaves_nothing(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.memory("acme").remember("user:ana", "city", "Lisbon")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.backup(tmp_path / "saved", stop)
    assert not (tmp_path / "saved").exists()
    assert not (tmp_path / "saved.part").exists()


def test_a_damaged_log_is_not_backed_up_in_silence(data: Path, tmp_path: Path) -> None:
    with Store.open(data) as store:
        memory = store.memory("acme")
        memory.append_many(
            [
                {"specversion": "1.0", "id": f"m{n}", "source": "chat", "type": "tether.transcript.v1",
                 "time": "2026-01-01T00:00:00Z", "data": {"session_id": "s", "seq": n, "role": "user",
                                                          "content": "x" * 2_000}}
                for n in range(400)
            ]
        )  # fmt: skip
    log = data / "log.sqlite"
    spoiled = bytearray(log.read_bytes())
    middle = len(spoiled) // 2 // 8192 * 8192
    spoiled[middle : middle + 8192] = b"\xff" * 8192
    log.write_bytes(spoiled)
    shutil.rmtree(tmp_path / "saved", ignore_errors=True)
    with Store.open(data) as store, pytest.raises(LogCorrupt):
        store.backup(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()

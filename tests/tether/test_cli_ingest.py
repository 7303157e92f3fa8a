"""`tether ingest` and the dead letters: bounded memory, nothing lost, nothing doubled."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tether_replay import lines
from typer.testing import CliRunner, Result

from tether import Store
from tether.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def run(data: Path) -> Run:
    def invoke(*arguments: str, given: bytes = b"", namespace: str = "acme") -> Result:
        environment = {"TETHER_DATA": str(data), "TETHER_NAMESPACE": namespace, "COLUMNS": "80"}
        return CliRunner().invoke(app, list(arguments), input=given, env=environment)

    return invoke


def event(number: int, **more: Any) -> bytes:
    arguments = {"subject": f"item:part{number}@1", "predicate": "passes", "value": True}
    data = {"tool": "memory.write", "arguments": arguments, "result": None, "is_error": False}
    head = {"specversion": "1.0", "id": str(number), "source": "ci", "type": "tether.tool_result.v1"}
    return json.dumps({**head, "time": "2026-01-01T00:00:00Z", "data": data, **more}).encode()


def counted(result: Result) -> tuple[int, int, int]:
    found = json.loads(result.stdout)
    return found["accepted"], found["duplicates"], found["rejected"]


def test_a_file_of_many_batches_is_in_once(run: Run, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"
    file.write_bytes(b"\n".join(event(number) for number in range(2_500)))
    assert counted(run("ingest", str(file), "--json")) == (2_500, 0, 0)
    assert counted(run("ingest", str(file), "--json")) == (0, 2_500, 0)
    with Store.open(data) as store:
        assert store.status("acme").events == 2_500


def test_lines_that_are_no_events_are_kept_whole(run: Run, data: Path) -> None:
    bad = [b"not json", b"\xff\xfe", b"[]", b'{"id": "\\ud800"}', event(2, id=""), b"\x00"]
    result = run("ingest", "-", "--json", given=b"\n".join([event(1), *bad, b"", b"  \r", event(3)]) + b"\r\n")
    assert (result.exit_code, counted(result)) == (1, (2, 0, len(bad) + 1))
    with Store.open(data) as store:
        assert [letter.payload for letter in store.dead_letters()] == [*bad, b"  "]
        assert all(letter.reason for letter in store.dead_letters())


def test_a_line_that_is_too_long_is_kept_and_the_next_is_read(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TETHER_PAYLOAD_BYTES_MAX", "1024")
    result = run("ingest", "-", "--json", given=b"x" * 400_000 + b"\n" + event(1))
    assert counted(result) == (1, 0, 1)
    with Store.open(data) as store:
        assert [len(letter.payload) for letter in store.dead_letters()] == [400_000]


def test_a_line_over_the_limit_of_a_read_is_cut_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES_MAX", 10)
    [batch] = lines.batches(io.BytesIO(b"a" * 10 + b"\n" + b"b" * 50 + b"\nc"))
    assert (batch.lines, batch.size_bytes) == ([b"a" * 10, b"b" * 11, b"c"], 63)


def test_batches_are_bounded_by_lines_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BATCH_LINES_MAX", 2)
    monkeypatch.setattr(lines, "BATCH_BYTES_MAX", 4)
    found = list(lines.batches(io.BytesIO(b"\xef\xbb\xbfa\nb\nc\r\n\ndddd\ne")))
    assert [batch.lines for batch in found] == [[b"a", b"b"], [b"c", b"dddd"], [b"e"]]
    assert sum(batch.size_bytes for batch in found) == len(b"\xef\xbb\xbfa\nb\nc\r\n\ndddd\ne")


def test_the_namespace_is_for_events_that_name_none(run: Run, data: Path) -> None:
    advisory = {"id": "R-1", "subject": "item:part9", "reason": "recall", "modified": "2026-01-01T00:00:00Z"}
    public = event(2, namespace="*", type="tether.advisory.v1", data={"format": "revocation", "advisory": advisory})
    given = b"\n".join([event(1), event(1, namespace="other"), public])
    assert counted(run("ingest", "-", "--json", given=given)) == (3, 0, 0)
    with Store.open(data) as store:
        assert (store.status("acme").events, store.status("other").events, store.status().advisories) == (1, 1, 1)


def test_without_a_namespace_an_event_must_name_its_own(run: Run) -> None:
    result = run("ingest", "-", given=event(1), namespace="")
    assert (result.exit_code, "namespace: " in result.stdout) == (1, True), result.output


def test_ingest_goes_on_while_another_process_owns_the_view(run: Run, data: Path) -> None:
    with Store.open(data) as store:
        assert store.status().events == 0
        assert counted(run("ingest", "-", "--json", given=event(1))) == (1, 0, 0)
        assert store.status().events == 1


def test_dead_letters_are_listed_shown_and_replayed_corrected(run: Run, tmp_path: Path) -> None:
    broken = event(1).replace(b"true", b"1")
    run("ingest", "-", given=broken)
    [listed] = [json.loads(line) for line in run("dead-letters", "list", "--json").stdout.splitlines()]
    shown = json.loads(run("dead-letters", "show", "1", "--json").stdout)
    assert listed == shown
    assert (shown["payload"], shown["replayed"]) == (broken.decode(), False)
    assert run("dead-letters", "replay", "1").exit_code == 1
    fixed = tmp_path / "fixed.json"
    fixed.write_bytes(event(1))
    assert json.loads(run("dead-letters", "replay", "1", "--event", str(fixed), "--json").stdout)["duplicate"] is False
    assert "(replayed)" in run("dead-letters", "list").stdout
    assert run("dead-letters", "list", "--after", "1").stdout == "no dead letters\n"


def test_a_letter_goes_back_to_the_namespace_that_it_was_meant_for(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TETHER_PAYLOAD_BYTES_MAX", "1024")
    run("ingest", "-", given=event(1, data={"tool": "t", "arguments": {}, "result": "x" * 2_000, "is_error": False}))
    monkeypatch.delenv("TETHER_PAYLOAD_BYTES_MAX")
    assert run("dead-letters", "replay", "1", namespace="other").exit_code == 0
    with Store.open(data) as store:
        assert store.status("acme").events == 1


def test_a_letter_of_no_namespace_goes_to_the_one_given(run: Run, data: Path) -> None:
    run("ingest", "-", given=event(1), namespace="")
    assert run("dead-letters", "replay", "1", namespace="").exit_code == 1
    assert run("dead-letters", "replay", "1").exit_code == 0
    with Store.open(data) as store:
        assert store.status("acme").events == 1

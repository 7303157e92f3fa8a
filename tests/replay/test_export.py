"""Export: the file's form, files that appear whole or not at all, and the views as Parquet."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import duckdb
import orjson
import pytest
from tether_schemas.errors import BadNamespace, BadRequest, LogCorrupt
from typer.testing import CliRunner, Result

from tests.raw import deletion, osv, transcript, write
from tests.replay.test_import import named
from tests.replay.test_round_trip import bytes_in, filled
from tests.replay.worlds import HOME, NAMESPACES, history, line, texts
from tether import Store
from tether.cli.app import app

Rows = list[dict[str, Any]]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "data") as store:
        yield store


def test_the_file_says_what_it_is_and_its_events_are_as_recorded(store: Store) -> None:
    events = [named(write(), "w", traceparent="00-1"), transcript(["hello", 1.0]), osv() | {"namespace": "*"}]
    events[1] |= {"source": "chat"}
    store.append_many([line(event) for event in events])
    out = io.BytesIO()
    done = store.export(out)
    first, *body, last = [orjson.loads(each) for each in out.getvalue().splitlines()]
    assert body == events
    assert first["export"].keys() == {"format", "version", "tether", "namespaces", "only", "events", "position", "time"}
    assert (first["export"]["namespaces"], first["export"]["events"]) == (["*", "acme"], 3)
    assert last == {"export_end": {"events": 3, "ghosts": 0}}
    assert (done.events, done.ghosts, done.namespaces, done.position) == (3, 0, ("*", "acme"), "3")


def test_its_events_go_in_by_ingest_too(store: Store, tmp_path: Path) -> None:
    store.append(write())
    out = io.BytesIO()
    store.export(out)
    with Store.open(tmp_path / "two") as two:
        receipts = two.append_many(out.getvalue().splitlines())
        assert [receipt.rejected is None for receipt in receipts] == [False, True, False]
        assert two.digest("acme") == store.digest("acme")


def test_what_could_not_be_extracted_stays_behind(store: Store) -> None:
    """It is a dead letter, and no evidence."""
    from tether_streams.ports import NewRecord

    log = store._home.log  # pyright: ignore[reportPrivateUsage]  # the test plants what no door lets in
    log.append([NewRecord("raw.tool-results", "acme", "ci", "x", "h", b'{"type":"tether.tool_result.v1"}', b"[]")])
    assert store.export(io.BytesIO()).events == 0


def test_a_file_that_is_there_is_not_overwritten_unless_it_is_said(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    with pytest.raises(BadRequest, match="there already"):
        store.export(place)
    assert place.read_text() == "mine"
    store.export(place, force=True)
    assert place.read_bytes().startswith(b'{"export"')


def fail(*_: object) -> None:
    raise ZeroDivisionError


def two_of_acme(*_: object) -> dict[str, int]:
    return {"acme": 2}


def test_a_failed_export_leaves_the_old_file_and_nothing_else(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "file").write_text("old")
    (folder / "views").mkdir()
    monkeypatch.setattr("tether_replay.export.end_line", fail)
    monkeypatch.setattr("tether_replay.parquet.snapshot", fail)
    for place, form in (("file", "ndjson"), ("views", "parquet")):
        store.append(named(write(), form))
        with pytest.raises(ZeroDivisionError):
            store.export(folder / place, format=form, force=True)
    assert [entry.name for entry in folder.iterdir()] in (["file", "views"], ["views", "file"])
    assert (folder / "file").read_text() == "old" and list((folder / "views").iterdir()) == []


@pytest.mark.parametrize("place", ["no/such/folder", "."])
def test_a_place_that_cannot_be_written_is_named(store: Store, tmp_path: Path, place: str) -> None:
    with pytest.raises(BadRequest, match="file: "):
        store.export(tmp_path / place, force=True)


def test_the_public_namespace_and_unknown_formats_are_no_request(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadNamespace):
        store.export(tmp_path / "a", namespace="*")
    for to, form in ((tmp_path / "a", "csv"), (io.BytesIO(), "parquet")):
        with pytest.raises(BadRequest, match="ndjson, parquet"):
            store.export(cast(Any, to), format=form)
    assert not (tmp_path / "a").exists()


def test_a_log_that_lost_events_of_the_view_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append(write())
    monkeypatch.setattr("tether_replay.export.counted", two_of_acme)
    with pytest.raises(LogCorrupt, match="2 events, the log 1"):
        store.export(io.BytesIO())


def read(folder: Path, name: str) -> Rows:
    query = f"SELECT * FROM '{folder}/{name}.parquet'"
    with duckdb.connect() as db:
        found = db.execute(query)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("seed", range(3))
def test_the_views_say_what_the_memory_says(seed: int, tmp_path: Path) -> None:
    with filled(tmp_path / "data", history(seed, 60)) as store:
        store.export(tmp_path / "views", format="parquet")
        for row in read(tmp_path / "views", "memory"):
            if row["predicate"] == "tags":
                continue  # many values: recall answers with all of them
            memory = store.memory(row["namespace"], "ana")
            answer = memory.recall(row["subject"], row["predicate"], scope=row["scope"])
            value = None if row["value"] is None else json.loads(row["value"])
            assert (answer.status, answer.value, answer.coverage) == (row["status"], value, row["coverage"])
            assert answer.assertion == row["assertion"]
        manifest = json.loads((tmp_path / "views" / "manifest.json").read_bytes())
        assert manifest["digests"] == {name: store.digest(name) for name in NAMESPACES}
        assert manifest["position"] == store.status().view_position
        for name, said in manifest["tables"].items():
            assert len(read(tmp_path / "views", name)) == said["rows"]


def test_the_views_have_names_and_what_rests_on_what(store: Store, tmp_path: Path) -> None:
    app_, lib = "pkg:pypi/app@1", "pkg:pypi/x@1.0"
    store.append(write(subject=app_, predicate="passes", value=True, derived_from=[lib]))
    store.append(osv(affected=[{"package": {"ecosystem": "PyPI", "name": "x"}, "versions": ["1.0"]}]) | {"id": "a"})
    store.export(tmp_path / "views", format="parquet")
    folder = tmp_path / "views"
    [edge] = read(folder, "edges")
    assert (edge["dependent"], edge["premise"], edge["counts"]) == (app_, lib, True)
    [premise] = read(folder, "premises")
    assert (premise["owner"], premise["premise"], premise["grade"]) == (edge["via"], lib, "stated")
    [cause] = read(folder, "causes")
    assert (cause["subject"], cause["kind"], cause["by"]) == (lib, "advisory", "GO-2026-0001")
    [said] = read(folder, "assertions")
    assert (said["assertion"], said["value"], said["stance"], said["reached"]) == (
        edge["via"],
        "true",
        "standing",
        True,
    )


def test_i8_views_of_a_namespace_are_its_rows_alone(tmp_path: Path) -> None:
    events = history(2, 60)
    with filled(tmp_path / "data", events) as store:
        store.export(tmp_path / "views", format="parquet", namespace=HOME)
    for file in (tmp_path / "views").glob("*.parquet"):
        assert {row["namespace"] for row in read(tmp_path / "views", file.stem)} <= {HOME}
    others = {text.encode() for event in events if event["namespace"] != HOME for text in texts(event)}
    assert [text for text in others if text in bytes_in(tmp_path / "views")] == []


def test_an_empty_store_goes_and_comes_back_empty(store: Store, tmp_path: Path) -> None:
    store.export(tmp_path / "views", format="parquet")
    assert all(read(tmp_path / "views", file.stem) == [] for file in (tmp_path / "views").glob("*.parquet"))
    out = io.BytesIO()
    assert store.export(out).events == 0
    assert store.import_(cast(BinaryIO, io.BytesIO(out.getvalue()))).kinds == ()


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*arguments: str, given: bytes = b"", data: str = "data") -> Result:
        environment = {"TETHER_DATA": str(tmp_path / data), "COLUMNS": "80", "TETHER_NAMESPACE": ""}
        return CliRunner().invoke(app, list(arguments), input=given, env=environment)

    return invoke


def test_the_command_line_pipes_an_export_into_an_import(run: Run, tmp_path: Path) -> None:
    with Store.open(tmp_path / "data") as store:
        store.append(named(write(value="secret"), "w"))
        store.append(named(deletion({"source": "ci"}), "d", source="ops"))
        told = store.digest("acme")
    out = run("export", "-")
    assert (out.exit_code, out.stdout_bytes.count(b"\n")) == (0, 4)
    done = json.loads(run("import", "-", "--json", given=out.stdout_bytes, data="two").stdout)
    assert done["whole"] and {kind["kind"]: (kind["new"], kind["ghosts"]) for kind in done["kinds"]} == {
        "deletion": (1, 0), "tool_result": (0, 1)
    }  # fmt: skip
    with Store.open(tmp_path / "two") as two:
        assert two.digest("acme") == told


def test_the_command_line_says_no(run: Run, tmp_path: Path) -> None:
    run("open")
    (tmp_path / "file").write_text("x")
    for arguments, code, text in (
        (("export", str(tmp_path / "file")), 1, "there already"),
        (("export", "-", "--format", "parquet"), 2, "name it"),
        (("export", "x", "--format", "csv"), 2, "--format is one of"),
        (("export", str(tmp_path / "new"), "--data", str(tmp_path / "none")), 1, "does not exist"),
        (("import", str(tmp_path / "file")), 1, "line 1"),
        (("import", str(tmp_path / "none")), 1, "No such file"),
    ):
        ran = run(*arguments)
        assert (ran.exit_code, text in ran.output.replace("\n", " ")) == (code, True), ran.output
    head = run("export", "-").stdout_bytes.splitlines()[0]
    for body, text in ((b"", "ends before its end"), (b"{\n", "line 2")):
        ran = run("import", "-", given=head + b"\n" + body)
        assert ran.exit_code == 1 and text in ran.output

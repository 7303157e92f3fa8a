"""OSV matching: right on every recorded row, and `unknown` with a reason where nothing can be said."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tether_schemas.subjects import purl_package
from tether_streams.core.osv import Match, check_osv, covers, package_base

DATA = Path(__file__).parent.parent / "data"
PURL_TYPES = {"Go": "golang", "PyPI": "pypi"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def advisories() -> dict[str, dict[str, Any]]:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in DATA.glob("advisories/*/*.json")]
    return {advisory["id"]: advisory for advisory in found}


def expected(name: str) -> list[dict[str, Any]]:
    return [row for row in rows(DATA / "expected" / f"{name}.jsonl") if row["ecosystem"] in PURL_TYPES]


def verdicts(row: dict[str, Any]) -> set[str]:
    """What the advisory's entries for the row's package say of its version. There is at least one such entry."""
    base = purl_package(PURL_TYPES[row["ecosystem"]], row.get("package") or row["name"])
    entries = [entry for entry in advisories()[row["advisory"]]["affected"] if package_base(entry) == base]
    return {covers(entry, row["version"]).verdict for entry in entries}


def test_every_row_at_the_boundary_of_a_range_is_right() -> None:
    found = expected("boundary")
    assert len(found) == 408
    assert [row for row in found if verdicts(row) != {"affected" if row["in_range"] else "not_affected"}] == []
    for row in found:
        withdrawn = advisories()[row["advisory"]].get("withdrawn") is not None
        assert row["expected_affected"] == (verdicts(row) == {"affected"} and not withdrawn)


def test_every_recorded_hit_is_affected_also_beside_custom_ranges() -> None:
    found = expected("hits")
    assert len(found) == 551 and sum(row["custom_ranges"] for row in found) == 2
    assert [row for row in found if verdicts(row) != {"affected"}] == []


def test_every_recorded_near_miss_is_not_affected() -> None:
    found = expected("near_misses")
    assert len(found) == 87
    assert [row for row in found if verdicts(row) != {"not_affected"}] == []


def world_entries(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in row["affected"]:
        ranges = [{"type": "SEMVER", "events": events} for events in entry["ranges"]]
        yield {"package": {"ecosystem": "Go", "name": entry["package"]}, "ranges": ranges}


@pytest.mark.parametrize("world", ["client_golang-1.11.0", "etcd-server-3.5.9"])
def test_the_advisories_of_a_world_hit_what_they_must(world: str) -> None:
    history = rows(DATA / "worlds" / f"{world}.jsonl")
    objects = [row["object"] for row in history if row["type"] == "verdict"]
    for row in history:
        if row["type"] != "advisory" or row["withdrawn"]:
            continue
        hits = {
            item
            for entry in world_entries(row)
            for item in objects
            if package_base(entry) == purl_package("golang", item.rpartition("@")[0])
            and covers(entry, item.rpartition("@")[2]).verdict == "affected"
        }
        assert hits == set(row["hits"]), row["id"]


def test_every_shipped_advisory_is_valid_and_names_its_packages() -> None:
    for advisory in advisories().values():
        check_osv(advisory)
        assert all(package_base(entry) for entry in advisory["affected"])


@pytest.mark.parametrize(
    ("package", "base"),
    [
        ({"ecosystem": "Go", "name": "github.com/Azure/sdk/v2"}, "pkg:golang/github.com/Azure/sdk/v2"),
        ({"ecosystem": "Go", "name": "stdlib"}, "pkg:golang/stdlib"),
        ({"ecosystem": "PyPI", "name": "Foo_Bar.baz"}, "pkg:pypi/foo-bar-baz"),
        ({"ecosystem": "npm", "name": "@angular/core"}, "pkg:npm/%40angular/core"),
        ({"ecosystem": "Maven", "name": "org.x:y"}, "pkg:maven/org.x/y"),
        ({"ecosystem": "Packagist", "name": "Vendor/Name"}, "pkg:composer/vendor/name"),
        ({"ecosystem": "crates.io", "name": "rand"}, "pkg:cargo/rand"),
        ({"ecosystem": "Debian:11", "name": "g++"}, "pkg:deb/debian/g%2B%2B"),
        ({"ecosystem": "Debian:11", "name": "curl", "purl": "pkg:deb/debian/curl?arch=source"}, "pkg:deb/debian/curl"),
        ({"ecosystem": "Alpine:v3.18", "name": "curl"}, "pkg:apk/alpine/curl"),
        ({"ecosystem": "Elsewhere", "name": "x", "purl": "pkg:generic/X@1?a=b"}, "pkg:generic/X"),
        ({"purl": "pkg:npm/@a/b"}, "pkg:npm/%40a/b"),
        ({"ecosystem": "Elsewhere", "name": "x"}, None),
        ({"ecosystem": "Go", "name": ""}, None),
        ({"ecosystem": "Go", "name": "a@b\n"}, None),
        ({"purl": "item:x"}, None),
        ({"purl": "x"}, None),
        ({"ecosystem": 1, "name": None, "purl": []}, None),
        ("Go", None),
        (None, None),
    ],
)
def test_the_package_of_an_entry(package: object, base: str | None) -> None:
    assert package_base({"package": package}) == base


def entry(*events: dict[str, Any], ecosystem: str = "PyPI", kind: str = "ECOSYSTEM", **more: Any) -> dict[str, Any]:
    ranges = [{"type": kind, "events": list(events)}] if events else []
    return {"package": {"ecosystem": ecosystem, "name": "x"}, "ranges": ranges, **more}


SPANS = entry({"fixed": "3"}, {"introduced": "2"}, {"introduced": "0"}, {"last_affected": "1"})
LIMITED = entry({"introduced": "1"}, {"limit": "2"}, {"limit": "1.5"})
OPEN = entry({"introduced": "0"}, ecosystem="Elsewhere")
TWO = {
    **entry(),
    "ranges": [*entry({"introduced": "5"})["ranges"], *entry({"introduced": "1"}, {"fixed": "2"})["ranges"]],
}
COMMITS = {"type": "GIT", "repo": "x", "events": [{"introduced": "0"}]}


@pytest.mark.parametrize(
    ("affected", "version", "verdict"),
    [
        *((SPANS, version, "affected") for version in ("0", "1", "1.0.0", "2.0", "3rc1", "0.dev0")),
        *((SPANS, version, "not_affected") for version in ("1.post1", "1.1", "2rc1", "3", "4")),
        *((LIMITED, version, "affected") for version in ("1", "1.9")),
        *((LIMITED, version, "not_affected") for version in ("0.9", "2", "3")),
        (entry({"introduced": "1"}, {"limit": "*"}), "9", "affected"),
        *((TWO, version, "affected") for version in ("1", "5", "6")),
        *((TWO, version, "not_affected") for version in ("0", "2")),
        *((OPEN, version, "affected") for version in ("anything", "2004d", "0")),
        (entry({"introduced": "0"}, {"fixed": "2"}), "2004d", "unknown"),
        (entry({"introduced": "0"}, {"fixed": "2004d"}), "1", "unknown"),
        (entry({"introduced": "1"}, ecosystem="Elsewhere"), "1", "unknown"),
        (entry({"introduced": "0"}, {"fixed": "0"}), "1", "not_affected"),
        (entry(versions=["2004d", "1.0"]), "2004d", "affected"),
        (entry(versions=["2004d", "1.0"]), "1.0.0", "affected"),
        (entry(versions=["2004d", "1.0"]), "1.1", "not_affected"),
        (entry(versions=["2004d"]), "2004e", "not_affected"),
        (entry({"introduced": "0"}, {"fixed": "1"}, versions=["2004d"]), "2004d", "affected"),
        (entry({"introduced": "0"}, {"fixed": "1"}, versions=["2004d"]), "2004e", "unknown"),
        (entry({"introduced": "1"}, {"fixed": "2"}, versions=["7"]), "7", "affected"),
        (
            entry({"introduced": "0"}, {"fixed": "1.16.0-0"}, ecosystem="Go", kind="SEMVER"),
            "v1.16.0-rc.1",
            "not_affected",
        ),
        (
            entry({"introduced": "0"}, {"fixed": "2.0.0"}, ecosystem="Go", kind="SEMVER"),
            "v2.0.0+incompatible",
            "not_affected",
        ),
        (entry({"introduced": "1.0.0"}, ecosystem="Hex", kind="SEMVER"), "1.0.0-rc.1", "not_affected"),
        (entry({"introduced": "1"}, ecosystem=""), "1", "unknown"),
        ({"package": {"purl": "pkg:pypi/x"}, "ranges": entry({"introduced": "1"})["ranges"]}, "1.0", "affected"),
        (
            {"package": {"purl": "pkg:deb/debian/x"}, "ranges": entry({"introduced": "1:1"})["ranges"]},
            "2",
            "not_affected",
        ),
        (entry(), "1", "unknown"),
        (entry(versions=[]), "1", "unknown"),
        ({**entry(), "ranges": [COMMITS]}, "1", "unknown"),
        ({**entry(versions=["2"]), "ranges": [COMMITS]}, "1", "not_affected"),
        ({}, "1", "unknown"),
    ],
)
def test_evaluation(affected: dict[str, Any], version: str, verdict: str) -> None:
    match = covers(affected, version)
    assert match.verdict == verdict and match.reason


MALFORMED: list[tuple[Any, str]] = [
    ({}, "names neither"),
    ("x", "ranges is not a list"),
    ([None], "unknown type"),
    ([{"type": "WORD", "events": [{"introduced": "0"}]}], "unknown type 'WORD'"),
    ([{"type": "ECOSYSTEM"}], "without events"),
    ([{"type": "ECOSYSTEM", "events": []}], "without events"),
    ([{"type": "ECOSYSTEM", "events": [{"fixed": "1"}]}], "without an introduced"),
    ([{"type": "ECOSYSTEM", "events": ["0"]}], "exactly one of"),
    ([{"type": "ECOSYSTEM", "events": [{"introduced": "0", "fixed": "1"}]}], "exactly one of"),
    ([{"type": "ECOSYSTEM", "events": [{"introduced": 0}]}], "introduced is not a version"),
]


@pytest.mark.parametrize(
    ("ranges", "told"),
    MALFORMED,
)
def test_a_malformed_range_is_unknown_with_its_reason(ranges: object, told: str) -> None:
    match = covers({**entry(), "ranges": ranges}, "1")
    assert match.verdict == "unknown" and told in match.reason


def test_a_malformed_range_does_not_hide_what_another_says() -> None:
    broken = {"type": "ECOSYSTEM", "events": [{"fixed": "1"}]}
    assert covers({**TWO, "ranges": [broken, *TWO["ranges"]]}, "1") == Match(
        "affected", "in range: introduced 1, fixed 2"
    )


def test_custom_ranges_are_not_evaluated_and_the_reason_says_so() -> None:
    custom = {"custom_ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1"}]}]}
    beside = entry({"introduced": "0"}, ecosystem="Go", kind="SEMVER", ecosystem_specific=custom)
    alone = entry(ecosystem="Go", ecosystem_specific=custom)
    assert covers(beside, "v2.0.0") == Match("affected", "in range: introduced 0 (custom_ranges are not evaluated)")
    assert covers(alone, "v0.1.0").verdict == "unknown" and "custom_ranges" in covers(alone, "v0.1.0").reason


@given(st.permutations(SPANS["ranges"][0]["events"]), st.sampled_from(["0", "1", "1.5", "2", "2.5", "3"]))
def test_the_order_of_events_in_the_file_does_not_matter(events: list[dict[str, Any]], version: str) -> None:
    assert covers(entry(*events), version).verdict == covers(SPANS, version).verdict


SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["0", "1.0", "*", "GIT", "SEMVER"])
)
KEY = st.sampled_from(
    [
        "package",
        "ecosystem",
        "name",
        "purl",
        "versions",
        "ranges",
        "type",
        "events",
        "introduced",
        "fixed",
        "limit",
        "id",
    ]
)
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=4), max_leaves=20
)


@given(st.dictionaries(KEY | st.just("affected"), ANY_JSON, max_size=5), st.text(max_size=8))
def test_no_json_is_ever_an_exception(value: dict[str, Any], version: str) -> None:
    assert covers(value, version).reason
    assert package_base(value) is None or package_base(value)
    try:
        check_osv(value)
    except ValueError as error:
        assert ": " in str(error)


GOOD: dict[str, Any] = {"id": "GO-1", "modified": "0001-01-01T00:00:00Z", "surprise": [1]}


ENOUGH: list[dict[str, Any]] = [
    *({}, {"withdrawn": None}, {"withdrawn": "2024-01-01T00:00:00.5+02:00"}, {"affected": None}, {"affected": []}),
    *({"affected": [{}]}, {"affected": [{"package": {"ecosystem": "Go", "name": "x", "more": 1}, "ranges": [{}]}]}),
]


@pytest.mark.parametrize(
    "more",
    ENOUGH,
)
def test_what_is_needed_is_enough_and_unknown_fields_are_tolerated(more: dict[str, Any]) -> None:
    check_osv({**GOOD, **more})


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"id": value}, "id") for value in (None, "", " ", 7)),
    *(({"modified": value}, "modified") for value in (None, 7, "", "2024", "2024-01-01", "2024-13-01T00:00:00Z")),
    *(({"withdrawn": value}, "withdrawn") for value in (True, "", "yesterday", "2024-01-01T00:00:00")),
    ({"affected": {}}, "affected"),
    ({"affected": "x"}, "affected"),
    ({"affected": [{}, "x"]}, "affected[1]"),
    ({"affected": [{"package": "x"}]}, "affected[0].package"),
    ({"affected": [{"package": {"name": "x"}}]}, "affected[0].package.ecosystem"),
    ({"affected": [{"package": {"ecosystem": "Go"}}]}, "affected[0].package.name"),
    ({"affected": [{"package": {"ecosystem": "Go", "name": "x", "purl": 1}}]}, "affected[0].package.purl"),
    ({"affected": [{"versions": "1"}]}, "affected[0].versions"),
    ({"affected": [{"versions": ["1", 2]}]}, "affected[0].versions[1]"),
    ({"affected": [{"ranges": {}}]}, "affected[0].ranges"),
    ({"affected": [{"ranges": [1]}]}, "affected[0].ranges[0]"),
]


@pytest.mark.parametrize(
    ("more", "field"),
    REFUSED,
)
def test_a_bad_advisory_is_refused_by_the_name_of_its_field(more: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_osv({**GOOD, **more})
    assert str(caught.value).startswith(f"{field}: ")

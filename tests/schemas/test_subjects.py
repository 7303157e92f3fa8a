"""Subjects: any spelling in, one spelling out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tether_schemas.subjects import (
    CANONICAL_PURL,
    TEXT_CHARS_MAX,
    BadSubject,
    Subject,
    package_of,
    parse_purl,
    parse_subject,
    purl_package,
)

PURL_CASES = Path(__file__).parent.parent / "data" / "purl"


def purl_cases(test_type: str) -> list[Any]:
    cases: list[Any] = []
    for path in sorted(PURL_CASES.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["tests"]:
            if case["test_type"] == test_type:
                cases.append(pytest.param(case, id=f"{path.stem}: {case['description']}"))
    return cases


@pytest.mark.parametrize(
    ("text", "canonical", "base", "version"),
    [
        ("pkg:golang/go.etcd.io/bbolt@v1.3.6", None, "pkg:golang/go.etcd.io/bbolt", "v1.3.6"),
        ("pkg:golang/golang.org/x/net", None, "pkg:golang/golang.org/x/net", None),
        ("pkg:pypi/Foo_Bar@1.0", "pkg:pypi/foo-bar@1.0", "pkg:pypi/foo-bar", "1.0"),
        ("pkg:pypi/zope.interface@5", "pkg:pypi/zope-interface@5", "pkg:pypi/zope-interface", "5"),
        ("pkg:npm/@angular/core@1.0", "pkg:npm/%40angular/core@1.0", "pkg:npm/%40angular/core", "1.0"),
        ("pkg:npm/%40angular/core", None, "pkg:npm/%40angular/core", None),
        ("pkg:npm/@angular/core", "pkg:npm/%40angular/core", "pkg:npm/%40angular/core", None),
        ("pkg:maven/g/a@1.0%20Final", None, "pkg:maven/g/a", "1.0 Final"),
        ("pkg:deb/debian/curl@1:7.5~x?arch=i386", None, "pkg:deb/debian/curl?arch=i386", "1:7.5~x"),
        ("pkg:generic/a@1?b=2&a=1#c/d", "pkg:generic/a@1?a=1&b=2#c/d", "pkg:generic/a?a=1&b=2#c/d", "1"),
        ("pkg:generic/a?at=x@1", "pkg:generic/a?at=x%401", "pkg:generic/a?at=x%401", None),
        ("item:grouse@2", None, "item:grouse", "2"),
        ("item:grouse", None, "item:grouse", None),
        ("item:a@b@c", None, "item:a@b", "c"),
        ("item:@team/grouse", None, "item:@team/grouse", None),
        ("item:@team/grouse@2", None, "item:@team/grouse", "2"),
        ("item:50%25@1+b", None, "item:50%25", "1+b"),
        ("user:ana@example.com", None, "user:ana@example.com", None),
        ("svc+x.y-z:é", None, "svc+x.y-z:é", None),
    ],
)
def test_base_and_version(text: str, canonical: str | None, base: str, version: str | None) -> None:
    subject = parse_subject(text)
    assert subject == Subject(canonical or text, text.partition(":")[0], base, version)
    assert parse_subject(subject.text) == subject


@pytest.mark.parametrize(
    ("spellings", "canonical"),
    [
        (
            ["pkg:golang/g.com/a/B@v2.0.0%2Bincompatible", "pkg:GoLang/g.com%2Fa/B@v2.0.0+incompatible"],
            "pkg:golang/g.com/a/B@v2.0.0+incompatible",
        ),
        (["pkg:pypi/a_b@%31.0", "pkg://pypi/A-B@1.0", "pkg:pypi/a.b@1.0"], "pkg:pypi/a-b@1.0"),
        (["pkg:deb/debian/g++@4%3a1", "pkg:deb/debian/g%2b%2B@4:1"], "pkg:deb/debian/g%2B%2B@4:1"),
        (["pkg:generic/a@1?Arch=x&z=", "pkg:generic//a@1?arch=%78"], "pkg:generic/a@1?arch=x"),
    ],
)
def test_every_spelling_gives_one_text(spellings: list[str], canonical: str) -> None:
    assert {parse_subject(spelling).text for spelling in [*spellings, canonical]} == {canonical}


def test_the_letter_case_of_go_paths_is_kept() -> None:
    lower = parse_subject("pkg:golang/github.com/azure/sdk@v1.0.0")
    for text in ("pkg:golang/github.com/Azure/sdk@v1.0.0", "pkg:golang/github.com/%41zure/sdk@v1.0.0"):
        assert parse_subject(text).text == "pkg:golang/github.com/Azure/sdk@v1.0.0" != lower.text


@pytest.mark.parametrize(
    "text",
    [
        *("", "grouse", ":x", "user:", "user: ", "Item:x@1", "1tem:x", "i tem:x", "PKG:pypi/a@1"),
        *(" item:x@1", "item:x@1 ", "item:x@", "item:x@ ", "item:@1", "item: @1", "item:@"),
        *("item:a\nb", "item:a\x00b", "item:a\x7fb", "item:a\x9fb", "item:a\ud800b", "user:\udfff"),
        *("pkg:", "pkg:pypi", "pkg:pypi/", "pkg:pypi/@1", "pkg:1x/a@1", "pkg:a b/c@1", "pkg:pypi/a@", "pkg:pypi/a@%20"),
        *("pkg:npm/@angular@1", "pkg:npm/@angular/core@", "pkg:pypi/a@?x=1", "pkg:pypi/a@1?b", "pkg:pypi/a@1?b%20=1"),
        *(
            "pkg:pypi/a@1?b=1&B=2",
            "pkg:generic/a%00@1",
            "pkg:generic/a@%0a1",
            "pkg:generic/a%ff@1",
            "pkg:x/%ed%a0%80@1",
        ),
        *("item:" + "x" * TEXT_CHARS_MAX, "pkg:generic/" + "x" * TEXT_CHARS_MAX, "pkg:generic/" + "é" * 1000),
    ],
)
def test_what_names_no_subject_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(BadSubject) as caught:
        parse_subject(text)
    assert caught.value.reason and caught.value.text == text and len(str(caught.value)) < 10_000


def test_the_longest_text_is_allowed() -> None:
    text = "item:" + "x" * (TEXT_CHARS_MAX - 5)
    assert parse_subject(text).text == text


def test_policy_says_which_schemes_are_versioned() -> None:
    assert parse_subject("model:gpt@4", frozenset({"model"})) == Subject("model:gpt@4", "model", "model:gpt", "4")
    assert parse_subject("model:gpt@4").version is None
    assert parse_subject("pkg:pypi/A@1", frozenset()) == Subject("pkg:pypi/a@1", "pkg", "pkg:pypi/a@1", None)


def test_a_package_is_its_base_without_qualifiers_and_subpath() -> None:
    assert package_of(parse_subject("pkg:deb/debian/curl@1?arch=x#y")) == "pkg:deb/debian/curl"
    assert package_of(parse_subject("pkg:golang/a.b/c@v1#d")) == "pkg:golang/a.b/c"
    assert package_of(parse_subject("item:what?@1")) == "item:what?"
    assert purl_package("npm", "@angular/core") == "pkg:npm/%40angular/core"


@pytest.mark.parametrize("case", purl_cases("parse"))
def test_purl_specs_parse_cases(case: Any) -> None:
    if case["expected_failure"]:
        with pytest.raises(BadSubject):
            parse_subject(case["input"])
        return
    want = case["expected_output"]
    subject = parse_subject(case["input"])
    assert subject.version == want["version"]
    path = "/".join(part for part in (want["namespace"], want["name"]) if part)
    assert package_of(subject) == purl_package(want["type"], path)


@pytest.mark.parametrize("case", purl_cases("validate"))
def test_purl_specs_round_trip_cases(case: Any) -> None:
    assert parse_subject(case["input"]).text == case["expected_output"]


@example("pkg:generic/.@v-1")
@example("pkg:golang/a/../b@1:2+3~4")
@given(st.from_regex(CANONICAL_PURL, fullmatch=True))
def test_the_fast_path_equals_the_slow_path(text: str) -> None:
    assert parse_subject(text) == parse_purl(text)


PIECES = [
    "@",
    "/",
    ":",
    "?",
    "#",
    "&",
    "=",
    "%",
    "+",
    "%2B",
    "%40",
    "%2F",
    "%25",
    "%3F",
    "_",
    "-",
    ".",
    "..",
    "a",
    "B",
    "1",
]
TYPES = ["golang", "pypi", "npm", "maven", "generic", "oci", "github", "mlflow", "pub", "cpan", "X.y", "huggingface"]


@given(st.sampled_from(TYPES), st.lists(st.sampled_from([*PIECES, " ", "é", "[", "//", "İ", "\u2028"]), max_size=12))
def test_canonical_text_is_stable_under_parsing_again(kind: str, pieces: list[str]) -> None:
    try:
        subject = parse_subject(f"pkg:{kind}/{''.join(pieces)}")
    except BadSubject:
        assume(False)
        return
    assert parse_subject(subject.text) == subject == parse_purl(subject.text)
    assert (subject.version is None) == (subject.base == subject.text)


@given(st.text())
def test_any_text_is_a_subject_or_refused(text: str) -> None:
    for candidate in (text, "item:" + text, "pkg:" + text, "pkg:pypi/" + text):
        try:
            subject = parse_subject(candidate)
        except BadSubject:
            continue
        assert parse_subject(subject.text) == subject

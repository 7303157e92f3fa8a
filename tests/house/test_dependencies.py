"""Each dependency is explained in docs/dependencies.md, and everything that gets installed is pinned."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.source import ROOT, none

ROW = re.compile(r"^\| `([^`]+)` \|(.+)\|(.+)\|$", re.MULTILINE)
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==(\d[\w.!+]*)$")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def declared() -> set[str]:
    """The names in pyproject.toml: runtime and every extra."""
    extras = project().get("optional-dependencies", {})
    lines = [*project()["dependencies"], *(line for extra in extras.values() for line in extra)]
    return {canonicalize_name(Requirement(line).name) for line in lines}


def document_faults(document: str, names: set[str]) -> list[str]:
    rows = {canonicalize_name(name): (does.strip(), without.strip()) for name, does, without in ROW.findall(document)}
    missing = [f"docs/dependencies.md does not explain {name}" for name in sorted(names - rows.keys())]
    stale = [f"docs/dependencies.md explains {name}, which is no dependency" for name in sorted(rows.keys() - names)]
    empty = [f"docs/dependencies.md: {name} has an empty cell" for name, cells in rows.items() if not all(cells)]
    return missing + stale + empty


def pins(text: str) -> tuple[dict[str, str], list[str]]:
    """What constraints.txt pins, and the lines of it that are no exact pin."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {str(canonicalize_name(match[1])): str(match[2]) for line in lines if (match := PIN.match(line))}
    return found, [f"constraints.txt: '{line}' is no exact pin" for line in lines if not PIN.match(line)]


def closure(lines: list[str]) -> dict[str, str]:
    """Name -> installed version of everything that these requirements bring in on this machine."""
    versions: dict[str, str] = {}
    todo = [(Requirement(line), "") for line in lines]
    done: set[tuple[str, frozenset[str]]] = set()
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in done:
            continue
        done.add(key)
        try:
            installed = distribution(requirement.name)
        except PackageNotFoundError:
            versions[key[0]] = "missing"
            continue
        versions[key[0]] = installed.version
        for line in installed.requires or []:
            todo += [(Requirement(line), wanted) for wanted in ("", *requirement.extras)]
    return versions


def pin_faults(installed: dict[str, str], pinned: dict[str, str]) -> list[str]:
    unpinned = [f"constraints.txt does not pin {name}" for name in sorted(installed.keys() - pinned.keys())]
    other = [
        f"constraints.txt pins {name}=={pinned[name]}; installed is {version}"
        for name, version in sorted(installed.items())
        if name in pinned and pinned[name] != version
    ]
    return unpinned + other


def test_each_dependency_is_explained() -> None:
    none(document_faults((ROOT / "docs/dependencies.md").read_text("utf-8"), declared()))


def test_everything_installed_is_pinned() -> None:
    pinned, faults = pins((ROOT / "constraints.txt").read_text("utf-8"))
    lines = [*project()["dependencies"], *project()["optional-dependencies"]["dev"]]
    none(faults + pin_faults(closure(lines), pinned))


def test_a_dependency_without_a_word_is_found() -> None:
    assert document_faults("| `a` | does | we would write |", {"a", "b"}) == ["docs/dependencies.md does not explain b"]


def test_a_word_without_a_dependency_is_found() -> None:
    assert document_faults("| `a` | does | we would write |", set()) == [
        "docs/dependencies.md explains a, which is no dependency"
    ]


@pytest.mark.parametrize("line", ["a>=1", "a @ https://example.com/a.whl", "-e .", "--pre", "a==1 ; x"])
def test_a_line_that_is_no_pin_is_found(line: str) -> None:
    assert pins(f"# comment\n{line}\n")[1]


def test_what_is_not_pinned_or_pinned_otherwise_is_found() -> None:
    assert len(pin_faults({"a": "1", "b": "2"}, {"b": "1"})) == 2

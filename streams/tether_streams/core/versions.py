"""Version order, per ecosystem. What is not known to be ordered is refused, never guessed.

An ecosystem is named as OSV names it, with or without a release (`Debian:11`). `SemVer` is plain semantic versioning.
Each order first checks that a version has a form that the ecosystem defines: the libraries strip, pad and coerce.

- Go, npm, crates.io, SemVer: Semantic Versioning 2.0, section 11. A leading `v` means nothing; build metadata
  (`+incompatible`) has no rank. The key is our own few lines: univers coerces `1.2` and ranks builds apart.
- PyPI: PEP 440, by `packaging`. Older spellings (`2004d`) have no order.
- Maven, RubyGems, NuGet, Debian (and Ubuntu), Alpine: by `univers`, within the forms it orders rightly. Alpine's
  `_git`, `_svn` and `~hash` are refused, as univers does not know them. For Maven, `release` is read as its synonym
  `ga` and `.qualifier` as `-qualifier`, as Maven's POM reference has them (else univers' order is circular); a `ga`,
  `final` or `release` that is not last is refused (univers ranks it above nothing).
- Packagist: three plain numbers. For suffixes, and numbers of another count, univers is wrong in a third of the
  recorded lines.

All other ecosystems have no order here. The tests hold the recorded lines that each order refuses.

Errors:

    ValueError
      UnknownOrder   ecosystem, version, reason
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, cast

from packaging.version import InvalidVersion, Version

PARSED_VERSIONS_MAX = 65_536
VERSION_CHARS_MAX = 256


class UnknownOrder(ValueError):
    """Where this version stands among others of its ecosystem is not known."""

    def __init__(self, ecosystem: str, version: str, reason: str) -> None:
        super().__init__(f"order of {ecosystem} version {version[:80]!r} is unknown: {reason}")
        self.ecosystem = ecosystem
        self.version = version
        self.reason = reason


class _Ordered(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...
    def __gt__(self, other: Any, /) -> bool: ...


def compare(ecosystem: str, a: str, b: str) -> int:
    """-1, 0 or 1 as `a` stands below, level with or above `b`. Raises UnknownOrder.

    Level is "neither below nor above", which is coarser than "the same": `2.0.0+incompatible` is level with `2.0.0`.
    """
    x, y = _parsed(ecosystem, a), _parsed(ecosystem, b)
    return -1 if x < y else 1 if x > y else 0


def pep440_greater(a: str, b: str) -> bool | None:
    """Whether `a` is above `b` in PEP 440 order; None where one of them does not parse."""
    try:
        return compare("PyPI", a, b) > 0
    except UnknownOrder:
        return None


@lru_cache(maxsize=PARSED_VERSIONS_MAX)
def _parsed(ecosystem: str, version: str) -> _Ordered:
    order = _ORDERS.get(ecosystem.partition(":")[0])
    if order is None:
        raise UnknownOrder(ecosystem, version, "no order is known for this ecosystem")
    if len(version) > VERSION_CHARS_MAX:
        raise UnknownOrder(ecosystem, version, f"longer than {VERSION_CHARS_MAX} characters")
    try:
        return order(version)
    except ValueError as error:  # univers' InvalidVersion is one too
        raise UnknownOrder(ecosystem, version, str(error)[:200]) from None


_SEMVER = re.compile(
    r"v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-((?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)


def _semver(version: str) -> _Ordered:
    match = _SEMVER.fullmatch(version)
    if match is None:
        raise ValueError("not a semantic version (major.minor.patch)")
    major, minor, patch, pre = match.groups()
    numbers = int(major), int(minor), int(patch)
    if pre is None:
        return *numbers, 1, ()
    return *numbers, 0, tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split("."))


def _pep440(version: str) -> _Ordered:
    try:
        return Version(version)
    except InvalidVersion:
        raise ValueError("not a PEP 440 version") from None


_THREE_NUMBERS = re.compile(r"v?([0-9]+)\.([0-9]+)\.([0-9]+)")


def _three_numbers(version: str) -> _Ordered:
    match = _THREE_NUMBERS.fullmatch(version)
    if match is None:
        raise ValueError("only three plain numbers are ordered here")
    return tuple(int(part) for part in match.groups())


_MAVEN_RELEASE = re.compile(r"(?<![a-z])release(?![a-z])", re.IGNORECASE)
_MAVEN_INNER_RELEASE = re.compile(r"(?<![a-z])(?:ga|final|release)(?![a-z]).", re.IGNORECASE)
_MAVEN_DOTTED_QUALIFIER = re.compile(r"\.(?=[A-Za-z])")


def _maven(version: str) -> _Ordered:
    if _MAVEN_INNER_RELEASE.search(version):
        raise ValueError("a ga, final or release before the end is not ordered here")
    return _MAVEN(_MAVEN_DOTTED_QUALIFIER.sub("-", _MAVEN_RELEASE.sub("ga", version)))


def _univers(name: str, form: str) -> Callable[[str], _Ordered]:
    """The order of univers' class `name`, for versions that match `form` as a whole."""
    pattern = re.compile(form)

    def parse(version: str) -> _Ordered:
        if not pattern.fullmatch(version):
            raise ValueError("not a form that is ordered here")
        from univers import versions as known  # heavy, and not needed for most ecosystems

        return cast(Callable[[str], _Ordered], getattr(known, name))(version)

    return parse


_MAVEN = _univers("MavenVersion", r"[0-9A-Za-z][0-9A-Za-z._+-]*")
_DEBIAN = _univers("DebianVersion", r"(?:[0-9]+:)?[0-9][0-9A-Za-z.+~:-]*")

_ORDERS: dict[str, Callable[[str], _Ordered]] = {
    "Go": _semver,
    "npm": _semver,
    "crates.io": _semver,
    "SemVer": _semver,
    "PyPI": _pep440,
    "Packagist": _three_numbers,
    "Maven": _maven,
    "RubyGems": _univers("RubygemsVersion", r"[0-9]+(?:\.[0-9A-Za-z]+)*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"),
    "NuGet": _univers("NugetVersion", r"[0-9]+(?:\.[0-9]+){0,3}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"),
    "Debian": _DEBIAN,
    "Ubuntu": _DEBIAN,
    "Alpine": _univers(
        "AlpineLinuxVersion", r"[0-9]+(?:\.[0-9]+)*[a-z]?(?:_(?:alpha|beta|pre|rc|p)[0-9]*)*(?:-r[0-9]+)?"
    ),
}

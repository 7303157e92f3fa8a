"""OSV advisories: which package an entry of `affected` is about, and whether it covers a version.

Evaluation is the OSV schema's: a version is affected when `versions` lists it or one of the ranges holds it. GIT ranges
order commits, not versions, and are passed over. `custom_ranges` in `ecosystem_specific` are no semantic versions and
are not evaluated; the SEMVER range beside them is, and the reason says so. What cannot be decided is `unknown`, with a
reason. Whether an advisory as a whole is withdrawn is for its caller to ask.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Literal, cast

from tether_schemas.subjects import BadSubject, package_of, parse_subject, purl_package
from tether_schemas.times import BadTime, time_us

from tether_streams.core.versions import UnknownOrder, compare

# OSV ecosystem -> purl type, with the namespace where purl has one for the whole ecosystem.
_PURL_TYPES = {
    "Go": "golang",
    "PyPI": "pypi",
    "npm": "npm",
    "crates.io": "cargo",
    "Maven": "maven",
    "RubyGems": "gem",
    "NuGet": "nuget",
    "Packagist": "composer",
    "Hex": "hex",
    "Pub": "pub",
    "Hackage": "hackage",
    "CRAN": "cran",
    "SwiftURL": "swift",
    "Debian": "deb/debian",
    "Ubuntu": "deb/ubuntu",
    "Alpine": "apk/alpine",
    "Wolfi": "apk/wolfi",
    "Chainguard": "apk/chainguard",
    "Red Hat": "rpm/redhat",
    "AlmaLinux": "rpm/almalinux",
    "Rocky Linux": "rpm/rocky-linux",
    "openSUSE": "rpm/opensuse",
    "SUSE": "rpm/suse",
}
_ECOSYSTEMS = {kind: ecosystem for ecosystem, kind in _PURL_TYPES.items()}
EVENT_KINDS = ("introduced", "fixed", "last_affected", "limit")

Event = tuple[str, str]  # kind, version
_START: Event = ("introduced", "0")  # before every version, also before those whose order is unknown


@dataclass(frozen=True, slots=True)
class Match:
    """Whether one entry of `affected` covers one version, and why; of `unknown`, why that cannot be said."""

    verdict: Literal["affected", "not_affected", "unknown"]
    reason: str


def package_base(affected: Mapping[str, object]) -> str | None:
    """The package of an entry of `affected`, as `package_of` gives it; None when it cannot be named.

    The ecosystem and name decide, else the purl. A release (`Debian:11`) is left out: an entry for one release is taken
    to be about the package in every release, which may cover too much and never too little.
    """
    package = _mapping(affected.get("package"))
    ecosystem, name, purl = package.get("ecosystem"), package.get("name"), package.get("purl")
    try:
        if isinstance(ecosystem, str) and isinstance(name, str) and name:
            kind = _PURL_TYPES.get(ecosystem.partition(":")[0])
            if kind is not None:
                return purl_package(kind, name.replace(":", "/") if kind == "maven" else name)
        if isinstance(purl, str):
            subject = parse_subject(purl)
            return package_of(subject) if subject.scheme == "pkg" else None
    except BadSubject:
        pass
    return None


def covers(affected: Mapping[str, object], version: str) -> Match:
    """Whether this entry of `affected` covers `version` (decoded, as the ecosystem writes it). Never raises."""
    ecosystem, note = _ecosystem(affected), _custom(affected)
    found = [_by_list(affected, ecosystem, version), *_by_ranges(affected, ecosystem, version)]
    for match in found:
        if match and match.verdict == "affected":
            return Match("affected", match.reason + note)
    if unknown := [match.reason for match in found if match and match.verdict == "unknown"]:
        return Match("unknown", "; ".join(unknown) + note)
    if any(found):
        return Match("not_affected", "outside every range, and not listed" + note)
    return Match("unknown", "names neither versions nor a range of versions" + note)


def check_osv(advisory: Mapping[str, object]) -> None:
    """Refuse what is no OSV advisory. Raises ValueError, naming the field. Fields that are not needed may be anything.

    The events of ranges are not looked at: a bad one makes `covers` say `unknown`, and the rest of the advisory counts.
    """
    _text(advisory.get("id"), "id")
    _time(advisory.get("modified"), "modified")
    if advisory.get("withdrawn") is not None:
        _time(advisory["withdrawn"], "withdrawn")
    for i, entry in enumerate(_list(advisory.get("affected"), "affected")):
        at = f"affected[{i}]"
        if not isinstance(entry, dict):
            raise ValueError(f"{at}: must be an object")
        fields = cast(dict[str, object], entry)
        package = fields.get("package")
        if package is not None:  # entries with commits alone name none
            if not isinstance(package, dict):
                raise ValueError(f"{at}.package: must be an object")
            names = cast(dict[str, object], package)
            _text(names.get("ecosystem"), f"{at}.package.ecosystem")
            _text(names.get("name"), f"{at}.package.name")
            if names.get("purl") is not None:
                _text(names["purl"], f"{at}.package.purl")
        for j, version in enumerate(_list(fields.get("versions"), f"{at}.versions")):
            _text(version, f"{at}.versions[{j}]")
        for j, span in enumerate(_list(fields.get("ranges"), f"{at}.ranges")):
            if not isinstance(span, dict):
                raise ValueError(f"{at}.ranges[{j}]: must be an object")


def _ecosystem(affected: Mapping[str, object]) -> str:
    named = _mapping(affected.get("package")).get("ecosystem")
    if isinstance(named, str) and named:
        return named
    kind, _, rest = (package_base(affected) or "").removeprefix("pkg:").partition("/")
    return _ECOSYSTEMS.get(kind) or _ECOSYSTEMS.get(f"{kind}/{rest.partition('/')[0]}", "unnamed ecosystem")


def _by_list(affected: Mapping[str, object], ecosystem: str, version: str) -> Match | None:
    """What `versions` says: as it stands, or in another spelling of the same version (`1.0` and `1.0.0` on PyPI)."""
    versions = affected.get("versions")
    if not versions:
        return None
    if not isinstance(versions, list):
        return Match("unknown", "versions is not a list")
    listed = [item for item in cast(list[object], versions) if isinstance(item, str)]
    if version in listed:
        return Match("affected", f"listed: {version}")
    for item in listed:
        try:
            if compare(ecosystem, version, item) == 0:
                return Match("affected", f"listed: {item}")
        except UnknownOrder as error:
            if error.version == version:
                break
    return Match("not_affected", "not listed")


def _by_ranges(affected: Mapping[str, object], ecosystem: str, version: str) -> Iterator[Match]:
    """What each range of versions says."""
    ranges = affected.get("ranges")
    if not ranges:
        return
    if not isinstance(ranges, list):
        yield Match("unknown", "ranges is not a list")
        return
    for item in cast(list[object], ranges):
        span = _mapping(item)
        kind = span.get("type")
        if kind == "GIT":
            continue
        try:
            if kind not in ("SEMVER", "ECOSYSTEM"):
                raise ValueError(f"range of unknown type {str(kind)[:80]!r}")
            events = _events(span)
            held = _holds("SemVer" if kind == "SEMVER" else ecosystem, events, version)
            yield Match("affected", _told(events)) if held else Match("not_affected", "outside the range")
        except ValueError as error:
            yield Match("unknown", str(error))


def _events(span: Mapping[str, object]) -> list[Event]:
    raw = span.get("events")
    if not isinstance(raw, list) or not raw:
        raise ValueError("range without events")
    events: list[Event] = []
    for item in cast(list[object], raw):
        event = _mapping(item)
        known = [(kind, event[kind]) for kind in EVENT_KINDS if kind in event]
        if len(known) != 1:
            raise ValueError(f"range event must be exactly one of {', '.join(EVENT_KINDS)}")
        kind, version = known[0]
        if not isinstance(version, str) or not version:
            raise ValueError(f"range event {kind} is not a version")
        events.append((kind, version))
    if not any(kind == "introduced" for kind, _ in events):
        raise ValueError("range without an introduced event")
    return events


def _holds(ecosystem: str, events: list[Event], version: str) -> bool:
    """The OSV schema's evaluation of one range; events at one version keep the file's order. Raises UnknownOrder."""

    def order(a: Event, b: Event) -> int:
        starts = (a == _START, b == _START)
        return starts[1] - starts[0] if any(starts) else compare(ecosystem, a[1], b[1])

    limits = [at for kind, at in events if kind == "limit"]
    if limits and not any(at == "*" or compare(ecosystem, version, at) < 0 for at in limits):
        return False
    affected = False
    for event in sorted((event for event in events if event[0] != "limit"), key=cmp_to_key(order)):
        kind, at = event
        side = 1 if event == _START else compare(ecosystem, version, at)
        if kind == "introduced" and side >= 0:
            affected = True
        elif (kind == "fixed" and side >= 0) or (kind == "last_affected" and side > 0):
            affected = False
    return affected


def _told(events: list[Event]) -> str:
    told = ", ".join(f"{kind} {version}" for kind, version in events[:8])
    return f"in range: {told}{', …' if len(events) > 8 else ''}"


def _custom(affected: Mapping[str, object]) -> str:
    custom = _mapping(affected.get("ecosystem_specific")).get("custom_ranges")
    return " (custom_ranges are not evaluated)" if custom else ""


def _mapping(value: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], value) if isinstance(value, Mapping) else {}


def _list(value: object, field: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{field}: must be a list")
    return cast(list[object], value)


def _text(value: object, field: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{field}: must be a non-empty string")
    return value


def _time(value: object, field: str) -> None:
    try:
        time_us(_text(value, field))
    except BadTime as error:
        raise ValueError(f"{field}: {error}") from None

"""Subjects: what an assertion is about, in one canonical spelling.

A subject is `scheme:name`. For a versioned scheme the exact version stands after the last `@`: `item:grouse@2`.
Names of every scheme but `pkg` are taken as they are. `pkg` is a package URL (purl-spec), in any spelling it allows:

- The version is the purl's own: it stands before `?qualifiers` and `#subpath`. These are kept, in canonical order, and
  belong to the identity; `base` is the purl without its version alone: `pkg:deb/debian/curl?arch=i386`.
- Canonical text is purl-spec's, but for three readings on purpose: a `+` in the version is written `+`; Go module paths
  keep their letter case, which Go tells apart; PyPI names are folded as the index folds them (`zope.interface` is
  `zope-interface`).
- `@` and nothing after it is refused: a forgotten version must not become a statement about all versions.

Errors:

    ValueError
      BadSubject   text, reason
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from packageurl import PackageURL

VERSIONED = frozenset({"pkg", "item"})
TEXT_CHARS_MAX = 4096
CACHE_ENTRIES_MAX = 65_536

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_REFUSED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PURL_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")

# What is already canonical and ordinary: the fast path. A purl outside it goes through packageurl, to the same answer.
_ANY = r"[A-Za-z0-9._~-]+"
_LOWER = r"[a-z0-9._~-]+"
CANONICAL_PURL = re.compile(
    rf"(pkg:(?:(?:golang|maven|cargo|gem|nuget|deb|rpm|generic)/{_ANY}(?:/{_ANY})*"
    r"|pypi/[a-z0-9]+(?:-[a-z0-9]+)*"
    rf"|npm/(?:%40{_ANY}/)?{_LOWER}"
    rf"|(?:github|composer|apk)/{_LOWER}(?:/{_LOWER})*))(?:@([A-Za-z0-9._~+:-]+))?"
)


class BadSubject(ValueError):
    """A text that names no subject. `reason` says what to change."""

    def __init__(self, text: str, reason: str) -> None:
        shown = text if len(text) <= 80 else text[:80] + "…"
        super().__init__(f"bad subject {shown!r}: {reason}")
        self.text = text
        self.reason = reason


class Subject(NamedTuple):
    """One subject. Two subjects are the same exactly when their `text` is."""

    text: str  # Invariant: parse_subject(text).text == text
    scheme: str
    base: str  # canonical text without the version
    version: str | None  # decoded: what the ecosystem calls it, not how a purl escapes it


def parse_subject(text: str, versioned: frozenset[str] = VERSIONED) -> Subject:
    """The subject that `text` names, in canonical spelling. Raises BadSubject. Pure; answers are cached."""
    return _parse(text, versioned)


def spelling_of(text: str) -> tuple[str, bool]:
    """The canonical spelling of the subject that `text` names, and whether it lacks the version that its scheme has.

    What parse_subject says, but for ordinary purls, which hardly come again, without a cache. Raises BadSubject.
    """
    if len(text) <= TEXT_CHARS_MAX and (match := CANONICAL_PURL.fullmatch(text)):
        return text, match.group(2) is None
    subject = _parse(text, VERSIONED)
    return subject.text, subject.version is None and subject.scheme in VERSIONED


def package_of(subject: Subject) -> str:
    """The package that a `pkg` subject is a build or part of: its base without qualifiers and subpath.

    This is what an advisory's package is compared with: an advisory on curl covers curl for every architecture.
    For another scheme it is the base.
    """
    return _head(subject.base) if subject.scheme == "pkg" else subject.base


def purl_package(kind: str, path: str) -> str:
    """Base of the package that an ecosystem calls `path` (decoded, `/` between namespace and name). Raises BadSubject.

    purl_package("npm", "@angular/core") is "pkg:npm/%40angular/core".
    """
    return parse_subject(f"pkg:{kind}/{quote(path)}").base


@lru_cache(maxsize=CACHE_ENTRIES_MAX)
def _parse(text: str, versioned: frozenset[str]) -> Subject:
    if len(text) > TEXT_CHARS_MAX:
        raise BadSubject(text, f"longer than {TEXT_CHARS_MAX} characters")
    if "pkg" in versioned and (match := CANONICAL_PURL.fullmatch(text)):
        return Subject(text, "pkg", match.group(1), match.group(2))
    if _REFUSED.search(text):
        raise BadSubject(text, "holds a control character or a lone surrogate")
    if text != text.strip():
        raise BadSubject(text, "begins or ends with white space")
    scheme, colon, name = text.partition(":")
    if not colon or not _SCHEME.fullmatch(scheme):
        raise BadSubject(text, "must be scheme:name, the scheme in lower case, such as item:grouse@2")
    if not name.strip():
        raise BadSubject(text, "has no name after the scheme")
    if scheme == "pkg":
        return parse_purl(text, "pkg" in versioned)
    return _plain(text, scheme, name) if scheme in versioned else Subject(text, scheme, text, None)


def _plain(text: str, scheme: str, name: str) -> Subject:
    base, at, version = name.rpartition("@")
    if not at or (not base and "/" in version):  # no version; or the only @ opens a scope, as in @team/grouse
        return Subject(text, scheme, text, None)
    if not base.strip():
        raise BadSubject(text, "has no name before the @")
    if not version.strip():
        raise BadSubject(text, "has no version after the @")
    return Subject(text, scheme, f"{scheme}:{base}", version)


def parse_purl(text: str, versioned: bool = True) -> Subject:
    """The slow path: any purl, through packageurl. The tests hold the fast path equal to it."""
    head, version, tail, decoded = _canonical(text)
    base = head + tail
    canonical = base if version is None else f"{head}@{version}{tail}"
    if len(canonical) > TEXT_CHARS_MAX:
        raise BadSubject(text, f"longer than {TEXT_CHARS_MAX} characters when written out")
    if canonical != text and _canonical(canonical) != (head, version, tail, decoded):
        raise BadSubject(text, "has no stable spelling as a package URL")
    if not versioned:
        return Subject(canonical, "pkg", canonical, None)
    return Subject(canonical, "pkg", base, decoded)


def _canonical(text: str) -> tuple[str, str | None, str, str | None]:
    """(type, namespace and name; version; qualifiers and subpath), as written; and the version decoded."""
    kind, slash, rest = text.removeprefix("pkg:").lstrip("/").partition("/")
    if not slash or not _PURL_TYPE.fullmatch(kind):
        raise BadSubject(text, "must be pkg:type/name, such as pkg:pypi/django@4.2")
    _check_escapes(text)
    kind, rest = kind.lower(), rest.lstrip("/")
    # Some releases of packageurl lower-case Go's paths, as purl-spec says. As `generic` they are kept.
    borrowed = "generic" if kind == "golang" else kind
    try:
        purl = PackageURL.from_string(f"pkg:{borrowed}/{rest}")
        written = purl.to_string()
    except (ValueError, TypeError) as error:  # TypeError: packageurl's, for a segment of escaped slashes alone
        raise BadSubject(text, f"is not a package URL ({error})") from None
    if purl.version is None and _names_version(kind, rest):
        raise BadSubject(text, "has no version after the @")
    head = _head(written)
    qualifiers, sharp, subpath = written[len(head) :].partition("#")
    name = f"pkg:{kind}{head.partition('@')[0][len('pkg:') + len(borrowed) :]}"  # any other @ is written %40 by now
    if kind == "pypi":
        name = re.sub(r"[-_.]+", "-", name)
    # packageurl leaves a slash as it is everywhere; purl-spec only where it separates.
    version = None if purl.version is None else quote(purl.version, safe=":+")
    return name, version, qualifiers.replace("/", "%2F") + sharp + subpath, purl.version


def _head(purl: str) -> str:
    """A purl, or part of one, before qualifiers and subpath."""
    return purl.partition("?")[0].partition("#")[0]


def _names_version(kind: str, rest: str) -> bool:
    head = _head(rest)
    if kind == "npm" and head.startswith("@"):
        head = head.partition("/")[2]
    return "@" in head


def _check_escapes(text: str) -> None:
    try:
        decoded = unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        raise BadSubject(text, "holds a percent escape that is not UTF-8") from None
    if _REFUSED.search(decoded):
        raise BadSubject(text, "holds an escaped control character")
    qualifiers = text.partition("#")[0].partition("?")[2]
    keys = [pair.partition("=")[0].strip().lower() for pair in qualifiers.split("&")]
    if len(keys) != len(set(keys)):
        raise BadSubject(text, "names a qualifier twice")

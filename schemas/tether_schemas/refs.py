"""References: what an assertion or a link may name as its premise or dependent."""

import re
from functools import lru_cache
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict

from tether_schemas.build import trusted
from tether_schemas.fields import EventId
from tether_schemas.subjects import VERSIONED, BadSubject, parse_subject

ASSERTION_ID = re.compile(r"as_[0-9a-f]{32}")
CACHE_ENTRIES_MAX = 65_536
NO_ASSERTION = "is no assertion; the id of one is as_ and 32 digits of 0-9a-f, as recall() gives it"

RefKind = Literal["object", "assertion", "evidence"]
Grade = Literal["stated", "possible"]


class EvidenceRef(BaseModel):
    """One piece of evidence of the reader's own namespace."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: EventId
    id: EventId


class Ref(BaseModel):
    """A resolved reference: an object (`text` is a subject), an assertion (its id) or evidence (id, with `source`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: RefKind
    text: str
    source: str = ""

    @property
    def key(self) -> str:
        """One string for each thing that can be named; equal for equal references."""
        return f"{self.source}\x00{self.text}" if self.kind == "evidence" else self.text

    def public(self) -> "str | dict[str, str]":
        """The form that callers write: text, or {source, id}."""
        return {"source": self.source, "id": self.text} if self.kind == "evidence" else self.text


def stored_ref(ref: Ref) -> dict[str, str]:
    """A reference as facts store it."""
    stored = {"kind": ref.kind, "text": ref.text}
    return {**stored, "source": ref.source} if ref.source else stored


def parse_ref(value: "str | EvidenceRef") -> Ref:
    """The reference that a caller wrote. Raises BadSubject with the reason when it names nothing that can be a premise.

    A subject of a versioned scheme must carry its exact version; an entity (a key, a person) is named whole.
    """
    return _parse_text(value) if isinstance(value, str) else Ref(kind="evidence", text=value.id, source=value.source)


def is_like_id(text: str) -> bool:
    """Whether a text can only be meant as the id of an assertion or a link: no scheme has a `_`."""
    return text.startswith(("as_", "ln_")) and ":" not in text


@lru_cache(maxsize=CACHE_ENTRIES_MAX)
def _parse_text(value: str) -> Ref:
    if ASSERTION_ID.fullmatch(value):
        return trusted(Ref, {"kind": "assertion", "text": value, "source": ""})
    if is_like_id(value):
        raise BadSubject(value, NO_ASSERTION)
    subject = parse_subject(value)
    if subject.version is None and subject.scheme in VERSIONED:
        raise BadSubject(value, "names no version; it is one exact version, such as item:grouse@2")
    return trusted(Ref, {"kind": "object", "text": subject.text, "source": ""})


def evidence_text(source: str, event_id: str) -> str:
    """How evidence is named where one string is wanted: canonical JSON of [source, id]."""
    return orjson.dumps([source, event_id]).decode()

"""Extraction rules: from anybody's tool results to assertions and links, as declared (docs/rules.md)."""

from collections.abc import Iterator
from dataclasses import dataclass

from tether_schemas.builtin import BuiltIn
from tether_schemas.events import ToolResultEvent


@dataclass(frozen=True, slots=True)
class Found:
    """What one rule made of a result: an assertion, a link, or the reason why neither."""

    rule: str
    made: BuiltIn | str


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules in force, compiled. `version` is the content hash of their documents."""

    version: str

    def apply(self, event: ToolResultEvent) -> Iterator[Found]:
        """What the rules make of one result, in order."""
        yield from ()

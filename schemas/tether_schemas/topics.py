"""Topics: their names, what they carry, how they are keyed and kept."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

TRANSCRIPTS = "raw.transcripts"
TOOL_RESULTS = "raw.tool-results"
ADVISORIES = "raw.advisories"
DELETIONS = "raw.deletions"
DECISIONS = "raw.decisions"
FACTS = "facts"
FACTS_PUBLIC = "facts.public"
CHANGES = "changes"
DEAD_LETTERS = "dead-letters"

RAW = (TRANSCRIPTS, TOOL_RESULTS, ADVISORIES, DELETIONS, DECISIONS)


class FactTopics(NamedTuple):
    """The two topics of one extraction's facts: of namespaces, and of `*`."""

    own: str
    public: str


def fact_topics(extraction: int) -> FactTopics:
    """The topics of an extraction's facts. The first ones are `facts` and `facts.public`; whoever extracts again from
    the raw topics keeps what it makes apart, since facts are never edited."""
    if extraction == 1:
        return FactTopics(FACTS, FACTS_PUBLIC)
    return FactTopics(f"{FACTS}@{extraction}", f"{FACTS_PUBLIC}@{extraction}")


Kind = Literal["transcript", "tool_result", "advisory", "deletion", "decision"]

TOPIC_OF_TYPE: dict[str, str] = {
    "tether.transcript.v1": TRANSCRIPTS,
    "tether.tool_result.v1": TOOL_RESULTS,
    "tether.advisory.v1": ADVISORIES,
    "tether.deletion.v1": DELETIONS,
    "tether.decision.v1": DECISIONS,
}

KIND_OF_TYPE: dict[str, Kind] = {
    "tether.transcript.v1": "transcript",
    "tether.tool_result.v1": "tool_result",
    "tether.advisory.v1": "advisory",
    "tether.deletion.v1": "deletion",
    "tether.decision.v1": "decision",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: `key` names the message key, `compacted` and `retention_ms` how long it stays (None: for ever)."""

    name: str
    key: Literal["namespace", "none"]
    compacted: bool = False
    retention_ms: int | None = None


TOPICS: tuple[Topic, ...] = (
    *(Topic(name, "namespace") for name in RAW),
    Topic(FACTS, "namespace"),
    Topic(FACTS_PUBLIC, "none"),
    Topic(CHANGES, "namespace"),
    Topic(DEAD_LETTERS, "none"),
)

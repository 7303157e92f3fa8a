"""What is erased at present, as a view of a past must know it: deletions apply in full to every past (I-5)."""

from collections.abc import Callable
from dataclasses import dataclass

from tether_schemas.answers import EvidenceId

Key = tuple[int, int]  # halves of the digest of a name
Said = tuple[str, EvidenceId]  # the reason given and by whom, and the event that says so


def nobody(key: Key) -> Said | None:
    """No deletion is known from elsewhere."""
    return None


@dataclass(frozen=True, slots=True)
class Erasure:
    """Names that are erased whatever the facts at hand say: `nodes`, assertions and evidence, recorded or not; and
    evidence whose `payloads` must not be shown. `said` is the deletion that erased a name."""

    nodes: frozenset[Key] = frozenset()
    payloads: frozenset[Key] = frozenset()
    said: Callable[[Key], Said | None] = nobody

    def __bool__(self) -> bool:
        return bool(self.nodes or self.payloads)


NONE = Erasure()

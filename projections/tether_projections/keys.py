"""Dense integer ids for names: subjects, assertions, evidence, links and slots share one sequence.

A name is known by its 128-bit BLAKE2b digest, so a million names cost 20 MB and start at once: two sorted numpy arrays,
and a dict for what came since.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

DELTA_MAX = 262_144

Digest = bytes


def digest(kind: str, *parts: str) -> Digest:
    """The 16-byte digest that stands for a name of one kind; parts are told apart by NUL, which no name contains."""
    return blake2b("\0".join((kind, *parts)).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def digests(kind: str, prefixes: Iterable[tuple[str, ...]], names: Iterable[str]) -> list[Digest]:
    """`digest` of many names, each with what stands before it: in half the time where few different things do."""
    begun: dict[tuple[str, ...], blake2b] = {}
    found: list[Digest] = []
    for prefix, name in zip(prefixes, names, strict=True):
        head = begun.get(prefix)
        if head is None:
            text = "\0".join((kind, *prefix, ""))
            head = begun[prefix] = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
        made = head.copy()
        made.update(name.encode("utf-8", "surrogatepass"))
        found.append(made.digest())
    return found


def pairs(keys: Sequence[Digest]) -> NDArray[np.int64]:
    """`halves` of many digests, one a row."""
    return np.frombuffer(b"".join(keys), np.int64).reshape(-1, 2)


def halves(key: Digest) -> tuple[int, int]:
    """A digest as two signed 64-bit integers, as DuckDB stores it."""
    return int.from_bytes(key[:8], "little", signed=True), int.from_bytes(key[8:], "little", signed=True)


@lru_cache(maxsize=65_536)
def slot_tail(scope: str, predicate: str, many: str = "") -> bytes:
    """The 96 bits of a slot's digest that do not depend on its subject."""
    return digest("slot", scope, predicate, many)[:12]


def slot_key(about: int, scope: str, predicate: str, many: str = "") -> Digest:
    """The digest of a slot: the node of its subject (which has the namespace in it) and 96 bits of all else."""
    return about.to_bytes(4, "little") + slot_tail(scope, predicate, many)


class KeyIndex:
    """Digest -> id. Ids start at 1 and are never reused within a generation."""

    def __init__(self) -> None:
        self._high: NDArray[np.int64] = np.empty(0, np.int64)
        self._low: NDArray[np.int64] = np.empty(0, np.int64)
        self._ids: NDArray[np.int32] = np.empty(0, np.int32)
        self._delta: dict[Digest, int] = {}
        self.next_id = 1
        self._before: KeyIndex | None = None

    def inherit(self, before: "KeyIndex | None") -> None:
        """Give names that another index knows their old ids again, and others ids above its own; None: no longer."""
        self._before = before
        if before is not None:
            self.next_id = before.next_id

    def load(self, high: NDArray[np.int64], low: NDArray[np.int64], ids: NDArray[np.int32]) -> None:
        """Replace the content by stored rows, in any order."""
        self._delta = {}
        self._sort(high, low, ids)
        self.next_id = int(ids.max()) + 1 if len(ids) else 1

    def _sort(self, high: NDArray[np.int64], low: NDArray[np.int64], ids: NDArray[np.int32]) -> None:
        order = np.argsort(high)
        self._high, self._low, self._ids = high[order], low[order], ids[order]

    def get(self, key: Digest) -> int:
        """The id of a name, 0 when it has none."""
        found = self._delta.get(key)
        return self._search(key) if found is None else found

    def _search(self, key: Digest) -> int:
        if not len(self._high):
            return 0
        high, low = halves(key)
        at = int(self._high.searchsorted(high))
        while at < len(self._high) and self._high[at] == high:
            if self._low[at] == low:
                return int(self._ids[at])
            at += 1
        return 0

    def warm(self, keys: Sequence[Digest]) -> None:
        """Fetch many ids at once, so that `get` of each finds them in the dict."""
        wanted = [key for key in keys if key not in self._delta]
        if not wanted or not len(self._high):
            return
        for key, found in zip(wanted, self._stored(wanted).tolist(), strict=True):
            if found:
                self._delta[key] = found

    def find(self, keys: Sequence[Digest]) -> NDArray[np.int32]:
        """`get` of many names at once."""
        ids = np.fromiter(map(self._delta.get, keys, repeat(0)), np.int32, len(keys))
        unknown = np.flatnonzero(ids == 0)
        if len(self._high) and len(unknown):
            ids[unknown] = self._stored([keys[place] for place in unknown.tolist()])
        return ids

    def _stored(self, keys: Sequence[Digest]) -> NDArray[np.int32]:
        wanted = pairs(keys)
        at = np.minimum(self._high.searchsorted(wanted[:, 0]), len(self._high) - 1)
        same = self._high[at] == wanted[:, 0]
        ids = np.where(same & (self._low[at] == wanted[:, 1]), self._ids[at], 0).astype(np.int32)
        for place in np.flatnonzero(same & (ids == 0)).tolist():  # the first half is another's too
            ids[place] = self._search(keys[place])
        return ids

    def add(self, key: Digest) -> int:
        """Give a name that has none the next id."""
        given = self._before.get(key) if self._before is not None else 0
        if not given:
            given = self.next_id
            self.next_id = given + 1
        self._delta[key] = given
        return given

    @property
    def inherits(self) -> bool:
        """Whether names may get old ids, which then do not follow one another."""
        return self._before is not None

    def add_many(self, keys: Iterable[Digest], ids: Iterable[int], next_id: int) -> None:
        """Give names that have none these ids, all below `next_id`. Not for an index that inherits."""
        assert self._before is None
        self._delta.update(zip(keys, ids, strict=True))
        self.next_id = next_id

    def settle(self) -> None:
        """Move what came since into the arrays when it has grown large."""
        if len(self._delta) < DELTA_MAX:
            return
        keys, ids = list(self._delta), np.fromiter(self._delta.values(), np.int32, len(self._delta))
        both = pairs(keys)
        if len(self._high):
            fresh = self._stored(keys) == 0
            both, ids = both[fresh], ids[fresh]
        order = np.argsort(both[:, 0])
        both, ids = both[order], ids[order]
        at = self._high.searchsorted(both[:, 0])
        self._high = np.insert(self._high, at, both[:, 0])
        self._low = np.insert(self._low, at, both[:, 1])
        self._ids = np.insert(self._ids, at, ids)
        self._delta = {}

    def __len__(self) -> int:
        return self.next_id - 1

"""The index of names against a dict, with the limit at which it settles lowered."""

from random import Random

import numpy as np
import pytest
from tether_projections import keys as keys_module
from tether_projections.keys import Digest, KeyIndex, digest, halves, slot_key


def stored(index: KeyIndex, known: dict[Digest, int]) -> KeyIndex:
    """Another index, loaded from the rows of this one in any order."""
    rows = list(known.items())
    Random(len(rows)).shuffle(rows)
    pairs = np.array([halves(key) for key, _ in rows], np.int64).reshape(-1, 2)
    loaded = KeyIndex()
    loaded.load(pairs[:, 0].copy(), pairs[:, 1].copy(), np.array([node for _, node in rows], np.int32))
    assert loaded.next_id == index.next_id
    return loaded


@pytest.mark.parametrize("delta_max", [1, 7, 1_000])
@pytest.mark.parametrize("seed", range(6))
def test_an_index_is_a_dict_whatever_is_settled_warmed_or_loaded(
    seed: int, delta_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys_module, "DELTA_MAX", delta_max)
    random = Random(seed)
    names = [digest("object", "acme", f"item:{number}") for number in range(200)]
    names += [names[place][:8] + bytes(8) for place in range(20)]  # equal in the half that is searched for
    index, known = KeyIndex(), dict[Digest, int]()
    for _ in range(400):
        roll = random.random()
        if roll < 0.1:
            index.settle()
        elif roll < 0.2:
            index.warm(random.sample(names, 12))
        elif roll < 0.23:
            index = stored(index, known)
        name = random.choice(names)
        assert index.get(name) == known.get(name, 0)
        if name not in known:
            known[name] = index.add(name)
        assert len(index) == len(known) == max(known.values())
    assert [index.get(name) for name in names] == [known.get(name, 0) for name in names]


def test_an_index_without_rows_loads_and_warms() -> None:
    index = stored(KeyIndex(), {})
    index.warm([digest("object", "a")])
    assert index.get(digest("object", "a")) == 0
    assert index.add(digest("object", "a")) == 1


def test_names_known_before_get_their_old_ids_and_others_new_ones() -> None:
    before, after = KeyIndex(), KeyIndex()
    names = [digest("object", name) for name in "abc"]
    ids = [before.add(name) for name in names]
    after.inherit(before)
    assert after.get(names[2]) == 0
    assert after.add(names[2]) == ids[2]
    assert after.add(digest("object", "d")) == 4
    after.inherit(None)
    assert after.add(digest("object", "e")) == 5


def test_names_of_any_characters_are_told_apart() -> None:
    texts = ["", "a", "ab", "\u00e9", "e\u0301", "\U0001f600", "\u202eab", "\ud800", "A"]
    found = {digest(kind, *parts) for kind in ("object", "link") for text in texts for parts in ((text,), (text, "x"))}
    assert len(found) == len(texts) * 4
    slots = {slot_key(about, scope, predicate, many) for about in (1, 2) for scope, predicate, many in _slots()}
    assert len(slots) == 2 * len(set(_slots()))


def _slots() -> list[tuple[str, str, str]]:
    return [("", "p", ""), ("p", "", ""), ("", "", "p"), ("a", "b", "c"), ("ab", "", "c"), ("a", "bc", "")]


def test_halves_are_the_digest() -> None:
    for number in range(100):
        key = digest("object", str(number))
        high, low = halves(key)
        assert high.to_bytes(8, "little", signed=True) + low.to_bytes(8, "little", signed=True) == key

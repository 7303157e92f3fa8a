"""The collector around bulk work: off meanwhile, and as it was afterwards."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from tether_streams.embedded import bulk as module
from tether_streams.embedded.bulk import bulk


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


class Cycle:
    """Something that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


def test_the_collector_is_off_meanwhile_and_on_again_afterwards() -> None:
    with bulk():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() == 0


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with bulk():
        pass
    assert not gc.isenabled()


def test_what_the_program_froze_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with bulk():
        pass
    assert gc.get_freeze_count() == frozen > 0


def test_cycles_of_others_are_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARED_OBJECTS_MAX", 10_000)
    with bulk():
        lost = weakref.ref(Cycle())
    kept: list[list[int]] = []
    for _ in range(100):
        with bulk():
            kept += [[number] for number in range(1_000)]
        if lost() is None:
            return
    raise AssertionError("never collected")

"""Ctrl-C while the view works."""

import pytest
from tether_projections.store import interruptible


def test_what_the_store_calls_an_interrupted_query_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise RuntimeError("Query interrupted")


def test_another_fault_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="another"), interruptible():
        raise RuntimeError("another")

"""A data directory for each test, and a store in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tether import Memory, Store


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def store(data: Path) -> Iterator[Store]:
    with Store.open(data) as store:
        yield store


@pytest.fixture
def memory(store: Store) -> Memory:
    return store.memory("acme")

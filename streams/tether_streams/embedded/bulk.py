"""Work on many small objects, without Python's cycle collector."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def bulk() -> Generator[None]:
    """Keep the cycle collector off meanwhile: it doubles the time of bulk work, which makes no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

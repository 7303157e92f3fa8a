"""Reading NDJSON in bounded memory: batches of lines, as many as fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

BATCH_LINES_MAX = 1_000
BATCH_BYTES_MAX = 32 * 1024 * 1024
LINE_BYTES_MAX = 64 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some lines with their numbers, and how many bytes of the file they and what was skipped between them take."""

    lines: list[bytes]
    numbers: list[int]
    size_bytes: int


def batches(file: BinaryIO, first: int = 1, line_bytes_max: int | None = None) -> Iterator[Batch]:
    """The lines of a file that are not blank, whole; one over the limit is cut there, which makes it no event.

    `first` is the number of the line at which the file stands; without `line_bytes_max` it is LINE_BYTES_MAX.
    """
    longest = LINE_BYTES_MAX if line_bytes_max is None else line_bytes_max
    lines: list[bytes] = []
    numbers: list[int] = []
    size = held = 0
    number = first - 1
    while line := file.readline(longest + 1):
        number += 1
        size += len(line)
        if len(line) > longest:
            size += _skip_rest(file, line)
        text = line.removeprefix(BOM) if number == 1 else line
        if text := text.rstrip(b"\r\n"):
            lines.append(text)
            numbers.append(number)
            held += len(text)
        if len(lines) >= BATCH_LINES_MAX or held >= BATCH_BYTES_MAX:
            yield Batch(lines, numbers, size)
            lines, numbers, size, held = [], [], 0, 0
    if size:
        yield Batch(lines, numbers, size)


def _skip_rest(file: BinaryIO, line: bytes) -> int:
    """Read to the end of a line that is too long; how many bytes that were."""
    skipped = 0
    while not line.endswith(b"\n") and (line := file.readline(1 << 20)):
        skipped += len(line)
    return skipped

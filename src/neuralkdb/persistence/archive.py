"""The file on disk: a zip of one JSON document and one block of numbers.

It is written whole or not at all, and read within limits: what a small file can make the reader allocate is bounded
before anything is allocated, and the writer stores uncompressed what would expand beyond that bound.
"""

from __future__ import annotations

import json
import os
import secrets
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from neuralkdb.persistence.errors import require

DOCUMENT, NUMBERS = "model.json", "numbers.bin"
MOST_EXPANSION = {DOCUMENT: 40, NUMBERS: 250}  # bytes in memory for each byte on disk,
FREE = {DOCUMENT: 2**18, NUMBERS: 2**24}  # unless there are no more than this
CHUNK = 2**20
LEVEL = 2  # of compression: counts shrink as well as at higher ones, and vectors at none

Write = Callable[[IO[bytes]], int]  # writes a member; how many bytes it needs in memory


def write_archive(path: str | os.PathLike[str], document: Write, numbers: Write) -> None:
    """Write both members to a file that replaces the one at `path` once it is complete."""
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(unfinished, "xb") as file:
            _write_members(file, {DOCUMENT: document, NUMBERS: numbers})
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _write_members(file: IO[bytes], members: dict[str, Write]) -> None:
    """The zip; members that compression would make suspicious are stored as they are."""
    methods = dict.fromkeys(members, zipfile.ZIP_DEFLATED)
    while suspicious := _write_zip(file, members, methods):
        methods.update(dict.fromkeys(suspicious, zipfile.ZIP_STORED))


def _write_zip(file: IO[bytes], members: dict[str, Write], methods: dict[str, int]) -> list[str]:
    """Write the zip; the compressed members that expand more than a reader accepts."""
    file.seek(0)
    file.truncate()
    needed = {}
    with zipfile.ZipFile(file, "w") as archive:
        for name, write in members.items():
            info = zipfile.ZipInfo(name)  # without a date: the same model is the same file
            info.compress_type = methods[name]
            info._compresslevel = LEVEL  # type: ignore[attr-defined]
            with archive.open(info, "w", force_zip64=True) as member:
                needed[name] = write(member)
        sizes = {info.filename: info.compress_size for info in archive.infolist()}
    compressed = [name for name in members if methods[name] == zipfile.ZIP_DEFLATED]
    return [name for name in compressed if needed[name] > limit(name, sizes[name])]


def limit(member: str, n_bytes: int) -> int:
    """How much memory a member of this many bytes on disk may need."""
    return max(FREE[member], MOST_EXPANSION[member] * n_bytes)


@contextmanager
def opened(file: IO[bytes]) -> Iterator[tuple[Any, IO[bytes], int]]:
    """The document, the numbers as a stream, and how many bytes they may become."""
    require(zipfile.is_zipfile(file), "it is no model file, or only a part of one")
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        require([info.filename for info in infos] == [DOCUMENT, NUMBERS], f"it does not hold {DOCUMENT} and {NUMBERS}")
        size = os.fstat(file.fileno()).st_size
        for info in infos:
            _check_member(info, size)
        with archive.open(NUMBERS) as numbers:
            yield _document(archive), numbers, limit(NUMBERS, size)


def _check_member(info: zipfile.ZipInfo, size: int) -> None:
    known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not info.flag_bits & 1
    require(known, f"{info.filename} is encrypted, or compressed in an unknown way")
    require(info.compress_size <= size, f"{info.filename} is longer than the file")
    allowed = limit(info.filename, size)
    require(info.file_size <= allowed, f"{info.filename} claims {info.file_size} bytes, more than {allowed}")


def _document(archive: zipfile.ZipFile) -> Any:
    with archive.open(DOCUMENT) as member:
        text = b"".join(iter(lambda: member.read(CHUNK), b""))
    return json.loads(text)


def read_into(stream: IO[bytes], buffer: memoryview) -> None:
    """Fill the buffer, a chunk at a time."""
    filled = 0
    while filled < len(buffer):
        chunk = stream.read(min(CHUNK, len(buffer) - filled))
        require(chunk, "its numbers end too early")
        buffer[filled : filled + len(chunk)] = chunk
        filled += len(chunk)

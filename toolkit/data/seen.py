"""Which texts were seen before, in some bytes each: a million ids take 34 MB, whatever their length.

Only a digest of a text is kept. Two different texts are taken for the same one with a probability of 3e-8
among a million, 3e-6 among ten million.
"""

from array import array
from hashlib import blake2b

FIRST_SIZE = 1 << 12  # slots; a power of two
FULLEST = 2 / 3  # share of the slots that are used


def text_hash(text: str) -> int:
    """64 bits of a digest, the same on every machine; never 0."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") or 1


class SeenTexts:
    """Texts, each with a number that says where it was seen first (open addressing)."""

    def __init__(self) -> None:
        self._hashes, self._places = _table(FIRST_SIZE), _table(FIRST_SIZE)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, text: str) -> bool:
        return bool(self._hashes[self._slot(text_hash(text))])

    def add(self, text: str, place: int = 0) -> int | None:
        """Where the text was seen first, None if it is new: then it was seen here."""
        digest = text_hash(text)
        slot = self._slot(digest)
        if self._hashes[slot]:
            return self._places[slot]
        self._hashes[slot], self._places[slot] = digest, place
        self._count += 1
        if self._count > FULLEST * len(self._hashes):
            self._grow()
        return None

    def _slot(self, digest: int) -> int:
        """The slot of this digest, or the empty one that it would take."""
        hashes, last = self._hashes, len(self._hashes) - 1
        slot = digest & last
        while (found := hashes[slot]) and found != digest:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        before = zip(self._hashes, self._places, strict=True)
        self._hashes, self._places = _table(2 * len(self._hashes)), _table(2 * len(self._hashes))
        for digest, place in before:
            if digest:
                slot = self._slot(digest)
                self._hashes[slot], self._places[slot] = digest, place


class SeenIds:
    """The ids of a problem set, and the file and line of each."""

    def __init__(self) -> None:
        self._ids = SeenTexts()
        self._files: list[str] = []

    def first_use(self, name: str, file: str, line: int) -> str | None:
        """Where an id was used before ("line 7", with the file if it is another), None if it is new."""
        if not self._files or self._files[-1] != file:
            self._files.append(file)
        place = self._ids.add(name, (len(self._files) - 1) << 40 | line)
        if place is None:
            return None
        before, line = self._files[place >> 40], place & ((1 << 40) - 1)
        return f"line {line}" if before == file else f"{before}, line {line}"


def _table(size: int) -> "array[int]":
    return array("Q", bytes(8 * size))

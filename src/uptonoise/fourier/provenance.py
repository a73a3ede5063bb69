"""How frequencies were sampled: a note, ready for JSON, that a sketch keeps with its frequencies.

An array of frequencies carries the note to the sketch, so that no caller has to pass it on.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats

Provenance = dict[str, Any]


class Frequencies(np.ndarray):
    """An array of frequencies that knows how it was sampled.

    It is an ordinary array in every other way, and what is computed from it is a plain array. Once changed, or sliced,
    it is no longer what was sampled, and its provenance is None.
    """

    _sampled: tuple[Provenance | None, int] = (None, 0)

    @classmethod
    def sampled(cls, values: Floats, provenance: Provenance | None) -> Frequencies:
        """Return the values as frequencies that were sampled in this way."""
        frequencies = values.view(cls)
        frequencies._sampled = provenance, _checksum(values)
        return frequencies

    @property
    def provenance(self) -> Provenance | None:
        """Law, scale, method and seed, ready for JSON; None where the values are not those that were sampled."""
        provenance, checksum = self._sampled
        return provenance if provenance is not None and checksum == _checksum(self) else None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __reduce__(self) -> Any:
        return Frequencies.sampled, (np.asarray(self), self.provenance)

    def __deepcopy__(self, memo: Any) -> Frequencies:
        return Frequencies.sampled(np.array(self), self.provenance)


def _checksum(values: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(values).tobytes())


def blocks_at(blocks: dict[str, Any], kept: NDArray[np.intp]) -> dict[str, list[int]]:
    """Return the blocks of the frequencies that were kept, each once."""
    remaining: dict[str, list[int]] = {}
    for name, ends in blocks.items():
        place = np.searchsorted(kept, ends).tolist()
        if place[0] < place[1] and place not in remaining.values():
            remaining[name] = place
    return remaining

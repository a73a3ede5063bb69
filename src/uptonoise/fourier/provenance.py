"""How frequencies were sampled: a note, ready for JSON, that a sketch keeps with its frequencies.

An array of frequencies carries the note to the sketch, so that no caller has to pass it on.
"""

from __future__ import annotations

import json
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


def checked_provenance(provenance: Any, n_frequencies: int) -> Provenance | None:
    """Return a copy of a provenance, as JSON gives it back, or raise with what is wrong."""
    try:
        copied = json.loads(json.dumps(provenance))
    except (TypeError, ValueError) as error:
        raise ValueError(f"provenance must be a dict that JSON can hold; {error}") from None
    if copied is None:
        return None
    if not isinstance(copied, dict):
        raise ValueError(f"provenance must be a dict; got {provenance!r}")
    if "blocks" not in copied:
        return copied
    blocks = copied["blocks"]
    if not isinstance(blocks, dict) or not blocks:
        raise ValueError(f"provenance['blocks'] must name at least one block of frequencies; got {blocks!r}")
    for name, place in blocks.items():
        is_place = isinstance(place, list) and len(place) == 2 and all(type(end) is int for end in place)
        if not is_place or not 0 <= place[0] < place[1] <= n_frequencies:
            raise ValueError(
                f"provenance['blocks'] must have a start and a stop within {n_frequencies} frequencies for each block; "
                f"got {place!r} for {name!r}"
            )
    return copied


def blocks_at(blocks: dict[str, Any], kept: NDArray[np.intp]) -> dict[str, list[int]]:
    """Return the blocks of the frequencies that were kept, each once."""
    remaining: dict[str, list[int]] = {}
    for name, ends in blocks.items():
        place = np.searchsorted(kept, ends).tolist()
        if place[0] < place[1] and place not in remaining.values():
            remaining[name] = place
    return remaining

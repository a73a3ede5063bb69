"""Which batches were seen: their names and digests of their values, the last ten thousand of each."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

_KEPT = 10_000


class Seen(NamedTuple):
    """Short numbers of names and of values, in the order in which they came. Nothing is changed in place."""

    names: tuple[int, ...] = ()
    values: tuple[int, ...] = ()

    def has_name(self, name: str, version: str = "") -> bool:
        """Tell whether a batch with this name, and of this version where one is given, was seen."""
        return _number(name + version) in self.names

    def with_batch(self, name: str, version: str, digest: str) -> Seen:
        """Return what was seen after one more batch; raise where it was seen before.

        An empty name, or an empty digest, is not looked at. The version of a batch is remembered with its name.
        """
        names, values = self.names, self.values
        if name:
            if self.has_name(name):
                raise ValueError(f"the batch {name!r} was compared before; every batch counts once")
            versions = [_number(name + version)] if version else []
            names = (*names, _number(name), *versions)[-_KEPT:]
        if digest:
            if _number(digest) in values:
                label = f"batch {name!r}" if name else "this batch"
                raise ValueError(
                    f"the values of {label} were compared before, perhaps under another name; every batch counts once"
                )
            values = (*values, _number(digest))[-_KEPT:]
        return Seen(names, values)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())

"""The process that turns units of evidence into money: wait for the scale, then bet, look, and learn, block by block.

Players bet on a block with what they learnt from the blocks before it. A block has 32 units, or a 32nd part of a large
batch: within a batch nobody looks, so that learning there may be coarser.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.monitor.betting import Bettor
from uptonoise.monitor.difference import Moments, spreads_of
from uptonoise.monitor.evidence import Evidence, Guarantee
from uptonoise.monitor.features import OddFeatures, followed, typical_sizes
from uptonoise.monitor.units import GROUP, Units, centred_groups

_BLOCK_ROWS = 32
_LEAST_BLOCK = 4  # units
_PARTS = 32  # of a large batch
_CHUNK_UNITS = 512  # about, whose features have the same scale
_FIRST_ROWS = 32  # whose typical size scales the features; nobody bets on them


@dataclass(frozen=True, eq=False)
class Process:
    """All that changes while a stream is watched, but for the reference. Nothing is changed in place.

    Attributes
    ----------
    up_to_offset : bool
        Whether units are groups, less their own centre.
    features : OddFeatures
        What players look at.
    bettor, evidence : Bettor and Evidence
        What players know and have.
    moments : Moments or None
        What the estimate of the difference is made of; None before the first rows are complete.
    lengths : array of shape (d,) or None
        The typical size of a difference; None before the first rows are complete.
    ungrouped : Units
        What waits for a group to be complete.
    block : Units
        What was bet on and not learnt yet; before there is a scale, what waits for it.
    block_features : array of shape (n, m)
        The features of what was bet on and not learnt yet.
    """

    up_to_offset: bool
    features: OddFeatures
    bettor: Bettor
    evidence: Evidence
    moments: Moments | None
    lengths: Floats | None
    ungrouped: Units
    block: Units
    block_features: Floats

    @classmethod
    def new(cls, n_columns: int, guarantee: Guarantee, up_to_offset: bool, generator: np.random.Generator) -> Process:
        """Return the process before the first batch."""
        features = OddFeatures.sampled(n_columns, generator)
        rows_of_unit = GROUP if up_to_offset else 1
        bettor = Bettor.new(features, rows_of_unit)
        evidence = Evidence.new(guarantee, bettor.shares, rows_of_unit)
        none = Units.none(n_columns)
        return cls(up_to_offset, features, bettor, evidence, None, None, none, none, np.empty((0, features.n_features)))

    @property
    def block_units(self) -> int:
        """How many units a block has, unless the batch is large."""
        return max(_LEAST_BLOCK, _BLOCK_ROWS // (GROUP if self.up_to_offset else 1))

    def after(self, units: Units, spreads: Floats | None, number: int) -> Process:
        """Return the process after a batch of units, the `number`-th.

        `spreads` are the units of the difference, where a reference tells them.
        """
        process = replace(self, evidence=self.evidence.at_batch())
        if self.up_to_offset:
            units, waiting = centred_groups(self.ungrouped.joined(units))
            process = replace(process, ungrouped=waiting)
        if process.lengths is None:
            process, units = process._scaled(units, spreads)
        process = process._bet(units)
        return replace(process, evidence=process.evidence.at_end_of_batch(number))

    def _scaled(self, units: Units, spreads: Floats | None) -> tuple[Process, Units]:
        """Return the process with a scale, which the first rows give, and the units that are left to bet on."""
        waiting = self.block.joined(units)
        rows = np.cumsum(waiting.sizes)
        if not len(rows) or rows[-1] < _FIRST_ROWS:
            return replace(self, block=waiting), Units.none(self.features.n_columns)
        n_first = int(np.searchsorted(rows, _FIRST_ROWS)) + 1
        first, rest = waiting.part(0, n_first), waiting.part(n_first, waiting.n_units)
        if spreads is None:
            spreads = spreads_of(first.z) / np.sqrt(2)
        process = replace(
            self,
            lengths=typical_sizes(first.z),
            moments=Moments.new(spreads, len(self.bettor.memories)),
            block=Units.none(self.features.n_columns),
        )
        bettor = self.bettor.learnt(self.features.of(first, process._scale))
        return replace(process, bettor=bettor)._described(first), rest

    @property
    def _scale(self) -> Floats:
        assert self.lengths is not None
        return self.lengths

    def _bet(self, units: Units) -> Process:
        """Return the process after bets on units, chunk by chunk."""
        process = self
        size = max(self.block_units, units.n_units // _PARTS)
        chunk = max(1, _CHUNK_UNITS // size) * size
        for start in range(0, units.n_units, chunk):
            process = process._bet_on(units.part(start, min(start + chunk, units.n_units)), size)
        return process

    def _bet_on(self, chunk: Units, size: int) -> Process:
        """Return the process after bets on some units; whatever block they complete is learnt before the next bet."""
        features = self.features.of(chunk, self._scale)
        bettor, log_factors, start, learnt = self.bettor, [], 0, 0
        while start < chunk.n_units:
            waiting = self.block.n_units if learnt == 0 else 0
            stop = min(start + max(size - waiting, 1), chunk.n_units)
            log_factors.append(bettor.log_factors(features[start:stop]))
            if waiting + stop - start >= size:
                block = features[learnt:stop]
                bettor = bettor.learnt(np.concatenate([self.block_features, block]) if waiting else block)
                learnt = stop
            start = stop
        evidence = self.evidence.after(log_factors[0] if len(log_factors) == 1 else np.concatenate(log_factors))
        process = replace(self, evidence=evidence, bettor=bettor)
        if not learnt:
            joined = np.concatenate([self.block_features, features])
            return replace(process, block=self.block.joined(chunk), block_features=joined)
        process = process._described(self.block.joined(chunk.part(0, learnt)))
        return replace(process, block=chunk.part(learnt, chunk.n_units), block_features=features[learnt:])

    def _described(self, learnt: Units) -> Process:
        """Return the process whose scale and estimate of the difference have seen some more units."""
        assert self.moments is not None
        moments = self.moments.learnt(learnt, self.bettor.memories, alike=not self.up_to_offset)
        return replace(self, moments=moments, lengths=followed(self._scale, learnt.z, self.bettor.n_blocks))

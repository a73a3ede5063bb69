"""The process that turns units of evidence into money: wait for the scale, then bet, look, and learn, block by block.

Players bet on a block with what they learnt from the blocks before it. A block has 64 rows, or a 32nd part of a large
batch, at most 65,536: within a batch nobody looks, so that learning there may be coarser. Up to batches of 2,048 rows,
how rows are cut into batches does not matter: blocks go on from one batch to the next.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.monitor.betting import Bettor
from uptonoise.monitor.difference import Moments, spreads_of
from uptonoise.monitor.evidence import Evidence, Guarantee
from uptonoise.monitor.features import OddFeatures, followed, typical_sizes
from uptonoise.monitor.units import GROUP, Units, centred_groups

_BLOCK_ROWS = 64
_LEAST_BLOCK = 4  # units
_PARTS = 32  # of a large batch
_MOST_UNITS = 65_536  # in a block: features of more would take much memory
_FIRST_ROWS = 32  # whose typical size scales the features; nobody bets on them


@dataclass(frozen=True, eq=False)
class Process:
    """All that changes while a stream is watched, but for the reference. A batch returns another process."""

    up_to_offset: bool  # units are groups, less their own centre
    features: OddFeatures  # what players look at
    bettor: Bettor  # what players know
    evidence: Evidence  # what players have
    moments: Moments | None  # of the difference; None before the first rows are complete
    lengths: Floats | None  # (d,): the typical size of a difference; None before the first rows are complete
    ungrouped: Units  # what waits for a group to be complete
    block: Units  # what was bet on and not learnt yet; before there is a scale, what waits for it
    block_features: Floats  # (n, m): of what was bet on and not learnt yet

    @classmethod
    def new(cls, n_columns: int, guarantee: Guarantee, up_to_offset: bool, generator: np.random.Generator) -> Process:
        """Return the process before the first batch."""
        features = OddFeatures.sampled(n_columns, generator)
        rows_of_unit = GROUP if up_to_offset else 1
        bettor = Bettor.new(features, rows_of_unit)
        evidence = Evidence.new(guarantee, bettor.shares, rows_of_unit)
        none = Units.none(n_columns)
        return cls(up_to_offset, features, bettor, evidence, None, None, none, none, np.empty((0, features.n_features)))

    def after(self, units: Units, spreads: Floats | None, number: int) -> Process:
        """Return the process after a batch of units, the `number`-th.

        `spreads` are the units of the difference, where a reference tells them.
        """
        process = replace(self, evidence=copy(self.evidence))  # which can play on
        process.evidence.begin_batch()
        if self.up_to_offset:
            units, waiting = centred_groups(self.ungrouped.joined(units))
            process = replace(process, ungrouped=waiting)
        if process.lengths is None:
            process, units = process._scaled(units, spreads)
        if units.n_units:
            process = process._bet(units)
        process.evidence.end_batch(number)
        return process

    def _scaled(self, units: Units, spreads: Floats | None) -> tuple[Process, Units]:
        """Return the process with a scale, which the first rows give, and the units that are left to bet on."""
        waiting = self.block.joined(units)
        rows = np.cumsum(waiting.part(0, _FIRST_ROWS).sizes)  # each unit has a row at least
        if not len(rows) or rows[-1] < _FIRST_ROWS:
            return replace(self, block=waiting), Units.none(self.features.n_columns)
        n_first = int(np.searchsorted(rows, _FIRST_ROWS)) + 1
        first, rest = waiting.part(0, n_first), waiting.part(n_first, waiting.n_units)
        if spreads is None:
            spreads = spreads_of(first.z) / np.sqrt(2)
        lengths = typical_sizes(first.z)
        bettor = self.bettor.copy()
        bettor.learn(self.features.of(first, lengths))
        moments = Moments.new(spreads, len(bettor.memories)).learnt(first, bettor.memories, alike=not self.up_to_offset)
        block = Units.none(self.features.n_columns)
        return replace(self, lengths=lengths, moments=moments, block=block, bettor=bettor), rest

    def _bet(self, units: Units) -> Process:
        """Return the process after bets on units; whatever block they complete is learnt before the next bet."""
        usual = max(_LEAST_BLOCK, _BLOCK_ROWS // (GROUP if self.up_to_offset else 1))
        size = max(usual, min(units.n_units // _PARTS, _MOST_UNITS))
        waiting = self.block.joined(units)
        bettor, evidence, moments, lengths = self.bettor, self.evidence, self.moments, self.lengths
        block_features = self.block_features
        assert lengths is not None
        assert moments is not None
        start, learnt = self.block.n_units, 0
        while start < waiting.n_units:
            if start == learnt:
                evidence.pay(size)
            stop = min(max(learnt + size, start + 1), waiting.n_units)
            features = self.features.of(waiting.part(start, stop), lengths)
            evidence.play(bettor.factors(features))
            block_features = features if start == learnt else np.concatenate([block_features, features])
            if stop - learnt >= size:
                if bettor is self.bettor:
                    bettor = bettor.copy()
                bettor.learn(block_features)
                lengths = followed(lengths, waiting.part(learnt, stop).z, bettor.n_blocks)
                block_features, learnt = block_features[:0], stop
            start = stop
        if learnt:
            moments = moments.learnt(waiting.part(0, learnt), bettor.memories, alike=not self.up_to_offset)
        block = waiting.part(learnt, waiting.n_units)
        return replace(
            self, bettor=bettor, moments=moments, lengths=lengths, block=block, block_features=block_features
        )

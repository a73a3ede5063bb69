from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from uptonoise._util.results import Result, as_json, changed, computed


@dataclass(frozen=True, eq=False)
class Rates(Result):
    hidden: ClassVar[tuple[str, ...]] = ("rows",)
    derived: ClassVar[tuple[str, ...]] = ("largest",)

    sizes: Any
    rate: float
    rows: Any = None

    @property
    def largest(self) -> int:
        return int(max(self.sizes))


RATES = Rates(np.array([10, 20]), float("nan"), rows=np.ones(3))


def test_json_has_the_answer_and_neither_hidden_fields_nor_nan():
    assert RATES.to_dict() == {"largest": 20, "sizes": [10, 20], "rate": None}


def test_equality_ignores_hidden_fields_and_equal_results_have_equal_hashes():
    assert replace(RATES, rows=None) == RATES
    assert hash(replace(RATES, rows=None)) == hash(RATES)
    assert replace(RATES, sizes=np.array([10, 21])) != RATES
    assert replace(RATES, rate=0.5) != RATES
    assert RATES != "something else"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_of_the_backend_asked_for(backend):
    frame = RATES.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    assert frame.shape == (1, 2)


def test_a_notebook_shows_the_text_with_its_signs_escaped():
    shown = Rates(["<script>"], 1.0)._repr_html_()
    assert shown.startswith('<div class="uptonoise-card">')
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_nested_values_become_json():
    assert as_json({"a": (np.float64(np.inf), [np.int64(1)]), 2: RATES}) == {"a": [None, [1]], "2": RATES.to_dict()}


def test_a_changed_result_keeps_what_was_computed():
    calls = []

    @dataclass(frozen=True, eq=False)
    class Square(Result):
        side: float
        name: str = "a"
        area: float = computed(lambda self: calls.append(self.side) or self.side**2)

    square = Square(3.0)
    assert not calls
    assert (square.area, changed(square, name="b").area, changed(square, name="b").name) == (9.0, 9.0, "b")
    assert (square.name, len(calls)) == ("a", 1)

"""A reference: each row once, in random order, longer on demand."""

from __future__ import annotations

import numpy as np
import pytest

import uptonoise as un
from uptonoise.monitor.batches import given_pairs, random_pairs
from uptonoise.monitor.reading import Table, read_table
from uptonoise.monitor.reference import Reference


def table(n: int, start: int = 0, clusters=None) -> Table:
    return Table(np.arange(start, start + n, dtype=float)[:, None], ("x0",), False, clusters)


def taken(reference: Reference, n: int) -> tuple[np.ndarray, Reference]:
    """Return the next rows, and the reference without them."""
    differences, rest = reference.subtracted(np.zeros((n, 1)))
    return -differences, rest


def test_every_row_is_used_once():
    reference = Reference.new(table(10), seed=1)
    first, reference = taken(reference, 7)
    second, reference = taken(reference, 7)
    assert sorted(np.concatenate([first, second]).ravel()) == list(range(10))
    assert reference.n_left == 0
    assert len(taken(reference, 1)[0]) == 0


def test_rows_are_used_again_in_another_order_where_that_is_wanted():
    reference = Reference.new(table(10), seed=1, reuse=True)
    rows, reference = taken(reference, 25)
    assert [sorted(part.ravel()) for part in (rows[:10], rows[10:20])] == [list(range(10))] * 2
    assert not np.array_equal(rows[:10], rows[10:20])
    assert (reference.n_passes, reference.n_left) == (2, 5)


@pytest.mark.parametrize("reuse", [False, True])
def test_a_resumed_reference_goes_on_where_it_was(reuse):
    reference = taken(Reference.new(table(10), 1, reuse), 4)[1].extended(table(5, 10))
    reference = taken(reference, 13 if reuse else 8)[1]
    again = Reference.resumed(table(15), 1, reuse, reference.progress)
    np.testing.assert_array_equal(taken(again, 6)[0], taken(reference, 6)[0])
    longer = Reference.resumed(table(18), 1, reuse, reference.progress)
    assert longer.n_left == reference.n_left + 3


def test_other_rows_are_refused():
    progress = Reference.new(table(10), 1).progress
    with pytest.raises(ValueError, match="reference must be the one that the state was made with, 10 rows"):
        Reference.resumed(table(10, 1), 1, False, progress)
    with pytest.raises(ValueError, match="reference must be"):
        Reference.resumed(table(9), 1, False, progress)


def test_clusters_of_the_reference_are_taken_as_a_whole():
    reference = Reference.new(table(9, clusters=np.array([2, 0, 0, 1, 1, 1, 2, 2, 2])), 1)
    clusters, reference = reference.clusters(2)
    clusters = list(clusters)
    assert reference.n_left == 3 - len(clusters)
    assert all(sorted(rows.ravel()) in ([1, 2], [3, 4, 5], [0, 6, 7, 8]) for rows in clusters)


def test_a_cluster_of_a_batch_is_one_unit():
    batch = table(7, 100, clusters=np.array([0, 1, 1, 1, 2, 2, 0]))
    plain, left = random_pairs(batch, Reference.new(table(20), 1), (0,))
    assert sorted(plain.sizes) == [2, 2, 3]
    assert left.n_left == 13
    clustered, left = random_pairs(batch, Reference.new(table(8, clusters=np.repeat([0, 1, 2, 3], 2)), 1), (0,))
    assert clustered.sizes.tolist() == [2, 2, 2]
    assert left.n_left == 1


def test_a_short_reference_uses_whole_clusters_only():
    batch = table(6, 100, clusters=np.array([0, 0, 1, 1, 2, 2]))
    units, left = random_pairs(batch, Reference.new(table(5), 1), (0,))
    assert units.sizes.tolist() == [2, 2]
    assert left.n_left == 1


def test_given_pairs_stay_together():
    batch, other = table(5, 100), table(5)
    assert set(given_pairs(batch, other, (0,)).z.ravel()) == {100.0}
    units = given_pairs(batch._replace(clusters=np.array([0, 0, 1, 1, 1])), other, (0,))
    assert sorted(units.sizes) == [2, 3]


def test_sorted_files_are_shuffled():
    units, _ = random_pairs(table(100), Reference.new(table(100), 1), (0,))
    assert abs(np.corrcoef(units.z.ravel(), np.arange(100))[0, 1]) < 0.3


def test_clusters_are_read_from_frames_and_bags():
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "id": ["u", "v", "u"]})
    read = read_table(frame, "batch", "id")
    assert read.columns == ("a",)
    assert read.clusters.tolist() == [0, 1, 0]
    assert read_table(un.Bags([np.zeros((2, 1)), np.ones((3, 1))]), "batch").clusters.tolist() == [0, 0, 1, 1, 1]
    with pytest.raises(ValueError, match="lacks the column 'who'"):
        read_table(frame, "batch", "who")
    with pytest.raises(ValueError, match="clusters must be one id for each of the 3 rows of batch"):
        read_table(np.zeros((3, 1)), "batch", [1, 2])


def test_rows_are_sorted_in_place_only_where_they_are_nobody_elses():
    clusters = np.array([2, 0, 0, 1, 1, 1, 2, 2, 2])
    given, own = table(9, clusters=clusters), table(9, clusters=clusters)._replace(is_own=True)
    references = [Reference.new(rows, 1) for rows in (given, own)]
    assert np.array_equal(references[0].values, references[1].values)
    assert np.array_equal(given.values, table(9).values)
    assert own.values is references[1].values
    again = Reference.resumed(given, 1, False, references[0].progress)
    assert np.array_equal(again.values, references[0].values)
    assert np.array_equal(again.bounds, references[0].bounds)
    assert np.array_equal(given.values, table(9).values)


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(10), 3)])
def test_a_batch_of_the_user_stays_as_it_is(clusters):
    rows = np.arange(60.0).reshape(30, 2)
    un.Monitor(rows + 1, random_state=0).update(rows, clusters=clusters)
    assert np.array_equal(rows, np.arange(60.0).reshape(30, 2))


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="reference must have at most 999 columns, since memory grows"):
        un.Monitor(np.zeros((3, 1_000)))

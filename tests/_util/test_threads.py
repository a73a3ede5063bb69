import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import uptonoise as un
from uptonoise._util.threads import n_threads, ordered_map
from uptonoise.rows import as_rows


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_ordered_map_keeps_the_order_when_later_items_end_first(monkeypatch):
    monkeypatch.setenv("UPTONOISE_NUM_THREADS", "4")

    def slow_first(item):
        time.sleep(0.02 if item % 2 == 0 else 0)
        return item

    assert list(ordered_map(slow_first, range(12))) == list(range(12))


def test_ordered_map_reads_only_a_few_items_ahead(monkeypatch):
    monkeypatch.setenv("UPTONOISE_NUM_THREADS", "2")
    read = []

    def items():
        for item in range(100):
            read.append(item)
            yield item

    results = ordered_map(lambda item: item, items())
    next(results)
    assert len(read) < 10
    results.close()


def test_ordered_map_has_few_threads_where_items_are_large(monkeypatch):
    monkeypatch.setenv("UPTONOISE_NUM_THREADS", "8")
    busy, most = set(), 0

    def work(item):
        nonlocal most
        busy.add(item)
        most = max(most, len(busy))
        time.sleep(0.005)
        busy.remove(item)
        return item

    assert list(ordered_map(work, range(10), 2)) == list(range(10))
    assert most <= 2
    assert list(ordered_map(lambda item: threading.current_thread(), range(3), 1)) == [threading.current_thread()] * 3


def test_ordered_map_passes_errors_on(monkeypatch):
    monkeypatch.setenv("UPTONOISE_NUM_THREADS", "2")

    def fail(item):
        if item == 3:
            raise ValueError("item 3")
        return item

    with pytest.raises(ValueError, match="item 3"):
        list(ordered_map(fail, range(10)))


def test_environment_decides_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("UPTONOISE_NUM_THREADS", raising=False)
    assert n_threads() == 3
    monkeypatch.setenv("UPTONOISE_NUM_THREADS", "5")
    assert n_threads() == 5
    monkeypatch.setenv("UPTONOISE_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="UPTONOISE_NUM_THREADS"):
        n_threads()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_blas_has_one_thread_while_rows_are_folded_and_its_own_number_afterwards(monkeypatch, threads):
    class Watching:
        block_rows = 10
        part_bytes = 0
        seen = ()

        def part(self, block):
            if block.values[0, 0] == 80:
                raise ValueError("row 80")
            return blas_threads()

        def add(self, part):
            self.seen += (part,)

    monkeypatch.setenv("UPTONOISE_NUM_THREADS", threads)
    before = blas_threads()
    assert as_rows(np.arange(70.0)).fold(Watching()).seen == ({1},) * 7
    assert blas_threads() == before
    with pytest.raises(ValueError, match="row 80"):
        as_rows(np.arange(100.0)).fold(Watching())
    assert blas_threads() == before


def test_blas_is_restored_after_callers_in_several_threads():
    before = blas_threads()
    rows = np.random.default_rng(0).normal(size=(200_000, 2))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: un.ecf(rows, np.ones((20, 2))), range(8)))
    assert blas_threads() == before

import joblib
import numpy as np
import pytest
from scipy import stats

from uptonoise.inference import (
    PhaseABC,
    simulate,
)

from .helpers import PRIOR, Counted, gamma, quick


def test_simulations_do_not_depend_on_the_number_of_workers():
    one = simulate(PRIOR, gamma, 40, block_size=8, random_state=3)
    with joblib.parallel_config(backend="threading"):
        two = simulate(PRIOR, gamma, 40, block_size=8, n_jobs=2, random_state=3)
    assert one.bags == two.bags
    assert np.array_equal(one.theta, two.theta)


@pytest.mark.slow
def test_processes_and_a_cluster_simulate_the_same(tmp_path):
    distributed = pytest.importorskip("distributed")
    here = simulate(PRIOR, gamma, 40, block_size=8, random_state=3)
    assert simulate(PRIOR, gamma, 40, block_size=8, n_jobs=2, random_state=3).bags == here.bags
    local = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.Client(**local, local_directory=tmp_path), joblib.parallel_config(backend="dask"):
        assert simulate(PRIOR, gamma, 40, block_size=8, random_state=3).bags == here.bags


def test_more_simulations_begin_with_the_same_ones():
    few, many = (simulate(PRIOR, gamma, n, block_size=10, random_state=1) for n in (20, 40))
    assert np.array_equal(few.theta, many.theta[:20])
    assert np.array_equal(few.bags.values, many.bags[:20].values)


def test_a_cache_keeps_simulations_for_others(tmp_path):
    simulator = Counted()
    settings = {"cache": tmp_path / "sims", "n_training": 60, "n_particles": 200, "vectorized": False, "ess": 100}
    first = quick(simulator=simulator, **settings).fit()
    assert simulator.calls == 260
    phase = quick(PhaseABC, simulator=simulator, **settings).fit()
    more = quick(simulator=simulator, **settings | {"n_particles": 250, "random_state": None}).fit()
    assert simulator.calls == 310
    assert np.array_equal(first.theta_, phase.theta_)
    assert np.array_equal(more.theta_[:200], first.theta_)
    plain = quick(simulator=gamma, **settings | {"cache": None}).fit()
    assert np.array_equal(plain.summaries_, first.summaries_)


def test_an_interrupted_run_goes_on(tmp_path):
    class Interrupted(Counted):
        def __call__(self, theta, rng):
            if self.calls == 130:
                self.calls += 1
                raise KeyboardInterrupt
            return super().__call__(theta, rng)

    for cache in (None, tmp_path / "sims"):
        simulator = Interrupted()
        abc = quick(simulator=simulator, vectorized=False, cache=cache, n_training=50, n_particles=200, block_size=10)
        with pytest.raises(KeyboardInterrupt):
            abc.fit()
        abc.fit()
        assert simulator.calls == 251  # the block that was under way had nothing yet
        whole = quick(simulator=gamma, vectorized=False, n_training=50, n_particles=200, block_size=10).fit()
        assert np.array_equal(abc.summaries_, whole.summaries_)


def test_a_cache_of_something_else_is_refused(tmp_path):
    simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=0)
    with pytest.raises(ValueError, match=r"other simulations .seed '0' there and '1' here"):
        simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=1)
    with pytest.raises(ValueError, match="another prior"):
        simulate(stats.norm(), gamma, 20, cache=tmp_path, random_state=0)
    (tmp_path / "training-000000-20.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is not a block of simulations, or it is truncated"):
        simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=0)
    (tmp_path / "simulations.json").write_text("{}")
    with pytest.raises(ValueError, match="damaged"):
        simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=0)
    with pytest.raises(NotADirectoryError, match="cache must be a folder"):
        simulate(PRIOR, gamma, 20, cache=tmp_path / "simulations.json", random_state=0)

"""Our summaries in other people's engines; `make test-adapters` installs these."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import uptonoise as un
from uptonoise.inference import FourierABC, padded, pyabc_sumstat, sbi_embedding, simulate

TRUTH = 3.0


def many_gammas(theta, rng):
    return rng.gamma(theta[:, :, None], size=(len(theta), 60, 1))


@pytest.fixture(scope="module")
def trained():
    model = make_pipeline(un.FourierFeatures(30, random_state=0), Ridge(alpha=1e-3))
    return FourierABC(
        stats.uniform(1, 5), many_gammas, regressor=model, n_training=300, vectorized=True, random_state=0
    )


@pytest.fixture(scope="module")
def observed():
    return many_gammas(np.array([[TRUTH]]), np.random.default_rng(7))[0]


def test_pyabc_runs_its_smc_on_our_summary(trained, observed, tmp_path):
    pyabc = pytest.importorskip("pyabc")
    trained.train()
    rng = np.random.default_rng(0)

    def model(parameters):
        return {"bag": rng.gamma(parameters["theta"], size=(int(rng.integers(40, 80)), 1))}

    statistic = pyabc_sumstat(trained, key="bag")
    assert isinstance(statistic, pyabc.sumstat.Sumstat)
    engine = pyabc.ABCSMC(
        model,
        pyabc.Distribution(theta=pyabc.RV("uniform", 1, 5)),
        pyabc.PNormDistance(p=2, sumstat=statistic),
        population_size=60,
        sampler=pyabc.sampler.SingleCoreSampler(),
    )
    engine.new(f"sqlite:///{tmp_path / 'pyabc.db'}", {"bag": observed})
    particles, weights = engine.run(max_nr_populations=4).get_distribution()
    mean = np.average(particles["theta"], weights=weights)
    assert abs(mean - TRUTH) < 0.8
    assert statistic.get_ids() == ["theta"]
    shuffled = observed[np.random.default_rng(1).permutation(len(observed))]
    assert statistic({"bag": shuffled}) == pytest.approx(statistic({"bag": observed}))
    with pytest.raises(KeyError, match="no 'bag'"):
        statistic({"other": observed})


def test_pyabc_statistics_can_be_sent_to_workers(trained, observed):
    pytest.importorskip("pyabc")
    cloudpickle = pytest.importorskip("cloudpickle")
    statistic = pyabc_sumstat(trained.train(), key="bag")
    again = cloudpickle.loads(cloudpickle.dumps(statistic))
    assert again({"bag": observed}) == pytest.approx(statistic({"bag": observed}))


def test_sbi_learns_a_density_on_our_embedding(observed, tmp_path, monkeypatch):
    pytest.importorskip("sbi")
    import torch
    from sbi.inference import NPE
    from sbi.neural_nets import posterior_nn
    from sbi.utils import BoxUniform

    def ragged(theta, rng):
        return rng.gamma(theta, size=(int(rng.integers(40, 80)), 1))

    monkeypatch.chdir(tmp_path)  # where sbi writes its logs
    torch.manual_seed(0)
    simulations = simulate(stats.uniform(1, 5), ragged, 1_000, random_state=0)
    x = padded(simulations.bags, 80)
    theta = torch.tensor(simulations.theta, dtype=torch.float32)
    embedding = sbi_embedding(1, 20, scale=2 * un.median_scale(simulations.bags), n_outputs=8, random_state=0)
    density = posterior_nn("maf", embedding_net=embedding, z_score_x="none")
    engine = NPE(prior=BoxUniform(torch.tensor([1.0]), torch.tensor([6.0])), density_estimator=density)
    engine.append_simulations(theta, x).train(max_num_epochs=40)
    posterior = engine.build_posterior()
    drawn = posterior.sample((500,), x=padded([observed], 80), show_progress_bars=False)
    assert abs(float(drawn.mean()) - TRUTH) < 0.8
    assert float(drawn.std()) < 1.0


def test_arviz_takes_a_posterior(trained, observed):
    arviz = pytest.importorskip("arviz")
    trained.n_particles = 2_000
    posterior = trained.fit().posterior(observed, ess=200)
    data = posterior.to_arviz(400)
    assert float(data.posterior["theta"].mean()) == pytest.approx(posterior.mean(), abs=0.1)
    assert data.prior["theta"].shape == (1, 400)
    table = arviz.summary(data, kind="stats")
    assert table.loc["theta", "mean"] == pytest.approx(posterior.mean(), abs=0.1)

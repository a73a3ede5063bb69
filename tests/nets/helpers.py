"""What the tests of nets share."""

import numpy as np
import torch

import uptonoise as un
from uptonoise import nets

LAYERS = [nets.FourierLayer, nets.PhaseLayer]


REGRESSORS = [nets.FourierNetRegressor, nets.PhaseNetRegressor]


CLASSIFIERS = [nets.FourierNetClassifier, nets.PhaseNetClassifier]


def gamma_bags(n_bags=120, seed=0, d=1, sizes=(20, 60)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


PLAIN = {"hidden": (), "scale": "median", "learning_rate": 0.03, "noise_augmentation": None, "steady": False}


def small(kind, **options):
    """Return a small network: a linear output, no noise in training, predictions as they are, unless options ask."""
    settings = {"n_frequencies": 10, "n_epochs": 3, "batch_size": 16, "device": "cpu", "random_state": 0}
    return kind(**(settings | PLAIN | options))


def padded_of(bags):
    values = torch.full((len(bags), int(bags.sizes.max()), bags.n_columns), torch.nan)
    mask = torch.zeros(values.shape[:2], dtype=torch.bool)
    for number, bag in enumerate(bags):
        values[number, : len(bag)] = torch.tensor(bag)
        mask[number, : len(bag)] = True
    return values, mask


def tensors_of(bags):
    return torch.tensor(np.array(bags.values)), torch.tensor(np.array(bags.offsets))


BAGS, Y = gamma_bags(20)

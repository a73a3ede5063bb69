"""The HIGGS data of UCI (Baldi, Sadowski and Whiteson 2014): signal and background of a simulated collider."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets.files import data_file

_LOW_LEVEL = (
    "lepton_pT", "lepton_eta", "lepton_phi", "missing_energy_magnitude", "missing_energy_phi",
    *(f"jet_{jet}_{what}" for jet in (1, 2, 3, 4) for what in ("pt", "eta", "phi", "btag")),
)  # fmt: skip
HIGGS_HIGH_LEVEL = ("m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb")
"""The seven features that physicists derived."""
HIGGS_JET_PHI = ("jet_1_phi", "jet_2_phi", "jet_3_phi", "jet_4_phi")
"""The azimuthal angles of the four jets, the paper's "extremely low level" features."""
_COLUMNS = _LOW_LEVEL + HIGGS_HIGH_LEVEL
_FILES = ("HIGGS.csv.gz", "HIGGS.csv", "HIGGS-46k.csv.gz")


class Higgs(NamedTuple):
    """Rows of both processes, and the names of their columns."""

    background: Floats
    signal: Floats
    columns: tuple[str, ...]


def load_higgs(
    path: str | os.PathLike[str] | None = None, columns: Sequence[str] = HIGGS_HIGH_LEVEL, max_rows: int | None = None
) -> Higgs:
    """Read the HIGGS data in the layout of UCI: no header, the label first, then 28 features.

    Parameters
    ----------
    path : path, optional
        The file, or a folder that holds it; by default the folder named in the environment variable ``UPTONOISE_DATA``,
        then ``data`` and ``../shared/data``.
    columns : sequence of str
        The features to keep.
    max_rows : int, optional
        The maximum number of rows, from the start of the file.

    Returns
    -------
    Higgs
        The rows of the background (label 0) and of the signal (label 1).

    Examples
    --------
    >>> from uptonoise.datasets import HIGGS_JET_PHI, load_higgs
    >>> higgs = load_higgs("HIGGS.csv.gz", columns=HIGGS_JET_PHI)  # doctest: +SKIP
    """
    unknown = [column for column in columns if column not in _COLUMNS]
    if unknown or not columns:
        raise ValueError(f"columns must be among {', '.join(_COLUMNS)}; got {unknown or 'none'}")
    file = data_file(
        path,
        _FILES,
        "no HIGGS file at {place}: download HIGGS.csv.gz from the UCI machine learning repository (data set 280)",
    )
    table = _read(file, columns, max_rows)
    labels, values = table[:, 0], table[:, 1:]
    if not np.isin(labels, (0.0, 1.0)).all():
        raise ValueError("the first column of the HIGGS file must be the label, 0 or 1")
    if not np.isfinite(values).all():
        raise ValueError("the HIGGS file must hold finite numbers")
    return Higgs(values[labels == 0], values[labels == 1], tuple(columns))


def _read(path: Path, columns: Sequence[str], max_rows: int | None) -> Floats:
    try:
        from pyarrow import ArrowInvalid, csv
    except ImportError:
        raise ImportError("load_higgs needs pyarrow: pip install 'uptonoise[io]'") from None
    options = csv.ReadOptions(column_names=["label", *_COLUMNS])
    wanted = csv.ConvertOptions(include_columns=["label", *columns])
    kept: list[Floats] = []
    n_rows = 0
    try:
        with csv.open_csv(path, read_options=options, convert_options=wanted) as reader:
            for batch in reader:
                kept.append(np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns]))
                n_rows += len(kept[-1])
                if max_rows is not None and n_rows >= max_rows:
                    break
    except ArrowInvalid as error:
        raise ValueError(f"{path} is not the HIGGS file of UCI, a label and 28 numbers per row: {error}") from None
    return np.concatenate(kept)[:max_rows]

"""What ``uptonoise fit`` and ``predict`` refuse before they begin, since it takes more than about 2 GB.

The models themselves have no such bounds: who has the memory fits in Python.
"""

from __future__ import annotations

from uptonoise._util.wording import counted

_MOST_BAGS = 1_000_000  # whose ids are Python objects
_MOST_BYTES = 1_400_000_000  # of values, and of the number of each row's bag
_MODEL_BYTES = 1_400_000_000  # beside what is loaded before, and noisy copies of a run of bags
_COPIES = 5  # of the bags in which the best model learns: one as it is, the others noisy; of many bags there are 3
_FEW_BAGS, _COPIES_OF_MANY = 3_000, 3
_LANDMARKS = 1_000
_MATRICES = 8  # of the products of features
_RIDGE_NUMBERS = 1_000  # of each bag


def check_bags(n_bags: int, name: str) -> None:
    """Raise where a file has more bags than fit into memory, as where a column of values was taken for one of ids."""
    if n_bags > _MOST_BAGS:
        raise ValueError(f"{name} must have at most {_MOST_BAGS:,} bags; got more. Does --by name the column of ids?")


def check_rows(n_rows: int, n_columns: int, name: str) -> None:
    """Raise where the rows of all bags do not fit into memory.

    Examples
    --------
    >>> from uptonoise.cli.bag_memory import check_rows
    >>> check_rows(10**9, 2, "bags.parquet")
    Traceback (most recent call last):
        ...
    ValueError: bags.parquet holds 20.0 GB of numbers, of which 1.4 GB fit into memory; ...
    """
    n_bytes = n_rows * (8 * n_columns + 4)
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"{name} holds {n_bytes / 1e9:.1f} GB of numbers, of which {_MOST_BYTES / 1e9:.1f} GB fit into memory; "
            "choose columns, or split the file"
        )


def check_fit(n_bags: int, shape: tuple[int, ...], *, is_best: bool) -> None:
    """Raise where a model of so many bags, whose rows have this shape, takes more memory than there should be.

    Examples
    --------
    >>> from uptonoise.cli.bag_memory import check_fit
    >>> check_fit(1_000, (100_000, 3), is_best=True)
    >>> check_fit(100_000, (1_000_000, 2), is_best=True)
    Traceback (most recent call last):
        ...
    ValueError: --model best takes about 8 GB for 100,000 bags with 2 columns; give ...
    """
    n_copies = n_bags * (_COPIES if n_bags < _FEW_BAGS else _COPIES_OF_MANY)
    n_bytes = _bytes(n_copies if is_best else n_bags, shape, is_best=is_best)
    if is_best:
        n_bytes += 8 * _MATRICES * _linear(shape[1]) ** 2
    if n_bytes > _MODEL_BYTES:
        what, other = ("--model best", ", or --model plrr") if is_best else ("the model", "")
        raise ValueError(
            f"{what} takes about {n_bytes / 1e9:.0f} GB for {n_bags:,} bags with {counted(shape[1], 'column')}; give "
            f"fewer bags or columns{other}"
        )


def check_predict(n_bags: int, shape: tuple[int, ...], *, is_best: bool) -> None:
    """Raise where predictions of so many bags take more memory than there should be.

    Examples
    --------
    >>> from uptonoise.cli.bag_memory import check_predict
    >>> check_predict(10_000, (100_000, 3), is_best=True)
    """
    n_bytes = _bytes(n_bags, shape, is_best=is_best)
    if n_bytes > _MODEL_BYTES:
        raise ValueError(
            f"predictions take about {n_bytes / 1e9:.0f} GB for {n_bags:,} bags with {counted(shape[1], 'column')}; "
            "split the file"
        )


def _bytes(n_bags: int, shape: tuple[int, ...], *, is_best: bool) -> int:
    """Return about how many bytes rows and features of bags take, and of the best model the kernel with landmarks."""
    n_rows, d = shape
    of_bag = 300 + 159 * d + 2 * _linear(d) + 2 * min(_LANDMARKS, n_bags) if is_best else _RIDGE_NUMBERS
    return 8 * (n_rows * d + n_bags * of_bag)


def _linear(n_columns: int) -> int:
    """Return how many features linear models learn from, about, as they were counted for 1 to 300 columns."""
    return 250 + 77 * n_columns

"""Descriptions of parameters that the functions of this package share."""

from uptonoise._util.docs import described as _described

described = _described(
    of_sample="""
        Parameters
        ----------
        X : array, tensor, frame, iterator of these, Bags, or RowSource
            One sample, or bags (also a list of arrays or a 3-D array).
        frequencies : array of shape (m, d)
            The frequencies, one per row.
        weights : array of shape (n_rows,) or str, optional
            A weight for each row (for bags: of the rows of all bags, in order), or the name of the column that holds
            them.
        precision : {"fast", "float64"}
            "fast" computes the trigonometric functions in float32, with an error near 1e-7.

        Returns
        -------
        complex array of shape (m,), or (n_bags, m) for bags
    """,
    of_two_samples="""
        Parameters
        ----------
        X, Y : array, frame, RowSource, or Sketch
            The two samples. To use weights, pass sketches.
        frequencies : array of shape (m, d)
            The frequencies, one per row. Leave it out for two sketches, which have their own.
        {precision}

        Returns
        -------
        float
    """,
    bags="""
        bags : Bags, list of arrays or frames, or 3-D array
            The bags.
        other : Bags, list of arrays or frames, or 3-D array, optional
            Other bags with the same columns; by default each bag is paired with every bag of `bags`.
    """,
    bags_at_frequencies="""
        {bags}
        frequencies : array of shape (m, d)
            The frequencies, one per row, with their columns in the order of those of `bags`.
    """,
    of_pairs_of_bags="""
        Parameters
        ----------
        {bags_at_frequencies}
        {precision}

        Returns
        -------
        array of shape (n_bags, n_bags), or (n_bags, n_other)
            Never negative. Without `other` it is symmetric, with zeros on the diagonal. Its square root is a distance,
            as ``metric="precomputed"`` of scikit-learn expects it.
    """,
    of_features_of_bags="""
        Parameters
        ----------
        {bags_at_frequencies}
        second, second_scale
            A second kernel layer and its length, as for :func:`embedding_kernel`.
        {precision}

        Returns
        -------
        array of shape (n_bags, n_bags), or (n_bags, n_other)
            Symmetric without `other`.
    """,
    precision="""
        precision : {"fast", "float64"}
            As for :func:`~uptonoise.ecf`.
    """,
    frequencies_for_example="""
        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> W = un.sample_frequencies(100, 1, random_state=0)
    """,
    sketch_for_example="""
        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rows = np.random.default_rng(0).normal(size=(500, 3))
        >>> s = un.Sketch.for_samples(rows).update(rows)
    """,
    random_state="""
        random_state : None, int, Generator or RandomState
            The seed.
    """,
)

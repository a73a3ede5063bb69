"""Descriptions of parameters that the estimators of this package share."""

from uptonoise._util.docs import described as _described

described = _described(
    bags_to_fit="""
        Parameters
        ----------
        {bags_or_vectors}
        y : ignored
            There for Pipelines.

        Returns
        -------
    """,
    gamma_bags="""
        {examples}
        >>> shapes = rng.uniform(1, 6, size=300)
        >>> bags = un.Bags([rng.gamma(shape, size=(50, 1)) for shape in shapes])
    """,
    bags_to_predict="""
        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, or RowSource with bags
            The bags, with the columns of fit.

        Returns
        -------
    """,
    to_amplitudes="""
        Parameters
        ----------
        {bags_or_vectors}

        Returns
        -------
        array of shape (n_bags, m)
    """,
    bags_or_vectors="""
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
    """,
    frequencies="""
        law : {"gaussian", "laplace", "matern", "radial"}
            The distribution of the frequencies, which stands for a kernel, as for
            :func:`~uptonoise.sample_frequencies`.
        scale : "median", "median-per-column", float, or array
            The length scale: the median heuristic on the rows of fit, the same for each column by itself, or lengths
            in the data's units as for :func:`~uptonoise.sample_frequencies`.
        scale_factor : float
            The length scale is `scale` times this: the number to tune. The directions of the frequencies depend on the
            seed only, not on the scale: with `random_state` an int, all values of a search have the same ones.
        method : {"iid", "orthogonal", "sobol"}
            How frequencies are sampled, as for :func:`~uptonoise.sample_frequencies`.
        nu : float
            The smoothness of "matern".
        frequencies : array of shape (m, d), optional
            Frequencies to use instead of sampled ones, each divided by `scale_factor`. The parameters of sampling have
            no meaning then; a `scale` is refused.
        precision : {"fast", "float64"}
            As for :func:`~uptonoise.ecf`.
        random_state : None, int, Generator or RandomState
            The seed of the frequencies.
    """,
    fitted_frequencies="""
        frequencies_ : array of shape (m, d)
            The frequencies.
        scale_ : float or array
            Their length scale, `scale_factor` included; `scale_factor` where `frequencies` were given.
        {fitted_columns}
    """,
    fitted_columns="""
        n_features_in_ : int
            The number of columns, d.
        feature_names_in_ : array of shape (d,)
            The names of the columns, where they came with the data.
    """,
    bag_model="""
        noise : {"unknown", "as in training", "up to 3"} or float
            Which noise new bags may have and the bags of fit have not: of unknown size (up to 10), none, or up to a
            size. A size is a standard deviation in units of each column's own over all rows of fit. The model is fitted
            and judged on copies of the bags with such noise, in part with heavy tails.
        invariant : bool
            Whether to use only features that independent symmetric noise does not move on average, and no trees, which
            would see noise in how features vary. For bags whose noise goes with the target in training and not in use;
            else it costs accuracy. Without it such features have learners of their own, which get the weight that
            others do not earn, unless noise is "as in training".
        n_frequencies : int
            As for :class:`BagSummary`.
        cv : int, splitter or iterable, optional
            The number of random folds, by group where groups are given; or a scikit-learn splitter. By default 5 folds,
            or 3 of more than 1,000 bags.
        random_state : None, int, Generator or RandomState
            The seed of frequencies, folds, noise and trees.
    """,
    fitted_bag_model="""
        summary_ : BagSummary
            The features.
        largest_noise_ : float
            The largest noise size that the model was fitted against.
        cv_error_ : float
            The root mean squared error, or the share of wrong classes, on bags as they are that were left out of the
            fit.
        {fitted_columns}
    """,
)

"""Checks of arguments name the argument, what came and what was expected."""

import pytest

from uptonoise._util.validation import checked_choice, checked_flag, checked_number


@pytest.mark.parametrize(
    ("check", "arguments", "message"),
    [
        (checked_choice, ("halton", ("iid", "sobol"), "method"), "method must be one of iid, sobol; got 'halton'"),
        (checked_flag, ("no", "steady"), "steady must be True or False; got 'no'"),
        (checked_number, (-1, "decay"), "decay must be a number at least 0 and below inf; got -1"),
    ],
)
def test_messages(check, arguments, message):
    with pytest.raises(ValueError, match=message):
        check(*arguments)

from __future__ import annotations

from uptonoise._util.errors import command_line_text, hinted


def test_each_kind_of_option_has_both_spellings():
    error = hinted(
        FileExistsError,
        "a {b} exists",
        "{force}, {columns}, {n_frequencies} or {encoding}",
        force=True,
        columns=["x", "the y"],
        n_frequencies=20,
        encoding=None,
    )
    assert isinstance(error, FileExistsError)
    assert str(error) == "a {b} exists; force=True, columns=['x', 'the y'], n_frequencies=20 or encoding="
    assert command_line_text(error) == "a {b} exists; --force, --columns 'x,the y', --frequencies 20 or --encoding"


def test_errors_without_a_hint_keep_their_text():
    assert command_line_text(ValueError("n must be positive")) == "n must be positive"

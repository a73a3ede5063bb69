"""Files are written whole, and only where they may be."""

import pytest

from uptonoise._util.files import checked_target, written_whole


def test_a_missing_folder_is_named():
    with pytest.raises(FileNotFoundError, match="the folder no such folder does not exist; make it first"):
        checked_target("no such folder/report.html", force=False)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    with written_whole(tmp_path / "a.txt") as file:
        file.write(b"all of it")
    assert (tmp_path / "a.txt").read_text() == "all of it"

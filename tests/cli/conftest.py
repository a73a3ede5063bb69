import pytest

from .helpers import frames


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = frames()
    a.to_csv("a.csv", index=False)
    b[["time", "energy"]].to_csv("b.csv", index=False)
    return tmp_path

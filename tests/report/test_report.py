from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import gamma, norm

import uptonoise as un
from uptonoise.cli import main
from uptonoise.report.advice import what_next
from uptonoise.report.columns import Columns, Kind
from uptonoise.report.groups import groups_context
from uptonoise.report.page import file_lines
from uptonoise.report.pictures import densities
from uptonoise.rows import FileStamp

SCRIPT = "<script>alert(1)</script>"
NAMES = [SCRIPT, "$x_1$", "درجة 温度 😀", 'a" onload="alert(2)']
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """What tests ask of a page: its elements in order, with their attributes, parents and texts."""

    def __init__(self, path: Path):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and data.strip():
            self.texts.append((self._open[-1], " ".join(data.split())))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def texts_in(self, tag):
        return [text for parent, text in self.texts if parent == tag]


def two_frames(rng, n_rows=400, names=NAMES):
    X, Y = (pd.DataFrame(rng.gamma(2, size=(n_rows, len(names))), columns=names) for _ in range(2))
    Y[names[1 % len(names)]] *= -1
    return X, Y


@pytest.fixture(autouse=True, scope="module")
def _one_date():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    comparison = un.compare(*two_frames(np.random.default_rng(1)), names=[SCRIPT, "new & noisy"])
    comparison.report(path)
    return comparison, path


@pytest.fixture(scope="module")
def page(written):
    return Page(written[1])


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(2)
    samples = {name: rng.exponential(size=(300, 2)) for name in ("a", "<i>b</i>", "$c$")}
    samples["d"] = 2 - rng.exponential(size=(300, 2))
    return un.compare_groups(samples)


def test_page_is_one_file_that_loads_nothing_and_runs_nothing(page):
    assert page.all("script") == []
    assert page.source.count("http") == 1  # of http-equiv
    links = [attributes.get("href") or attributes.get("src") for _, attributes in page.elements]
    assert all(link.startswith(("#", "data:")) for link in links if link)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")


def test_page_says_the_verdict_first(written, page):
    comparison, _ = written
    assert page.texts_in("h2")[0] == "Differ beyond noise and an offset"
    assert comparison.sentence in page.texts_in("p")
    assert f"{SCRIPT} and new & noisy: differ beyond noise and an offset" in page.texts_in("title")


def test_page_has_the_ladder_the_effect_the_columns_and_the_settings(written, page):
    comparison, _ = written
    spans = page.texts_in("span")
    for question, answer, why in comparison.ladder():
        assert {f"{question.capitalize()}?", answer, why} <= set(spans)
    assert set(NAMES) <= set(page.texts_in("bdi"))
    assert len(page.all("td")) >= 9 * len(NAMES)
    labels = page.texts_in("dt")
    assert {"significance level", "margin", "seed", "python", "numpy", "scipy", "uptonoise"} <= set(labels)
    assert {un.__version__, np.__version__, "0.05"} <= set(page.texts_in("bdi"))


def test_names_stay_text_in_the_page_and_in_its_pictures(page):
    assert SCRIPT not in page.source
    assert [text for text in page.texts_in("text") if text.startswith("<script>")]
    assert "$x_1$" in page.texts_in("text")
    assert [text for text in page.texts_in("text") if "درجة 温度 😀" in text]


def test_page_is_accessible_by_its_structure(page):
    assert page.all("html") == [{"lang": "en"}]
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("main", "header", "footer", "h1", "title")] == [1] * 5
    levels = [int(tag[1]) for tag in tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    svgs = page.all("svg")
    assert len(svgs) == len(page.all("figure")) + len(NAMES)  # and one in each row of the table
    assert len(page.all("figure")) >= 4
    assert all(svg["role"] == "img" and len(svg["aria-label"]) > 20 for svg in svgs)
    assert all("scope" in th for th in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(div["tabindex"] == "0" for div in page.all("div") if div.get("class") == "scroll")


def check_references(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name, value in attributes.items():
            if name == "aria-labelledby" or (name == "href" and value.startswith("#")):
                assert value.removeprefix("#") in ids
            if name in ("clip-path", "style") and "url(#" in value:
                assert value.split("url(#")[1].split(")")[0] in ids


def test_references_meet_one_element_each(page):
    check_references(page)


def test_the_same_comparison_gives_the_same_page_whatever_the_users_settings(written, tmp_path):
    comparison, path = written
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30, "text.color": "white"}):
        comparison.report(tmp_path / "again.html")
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


STEPS = (np.arange(4_000) + 0.5) / 4_000


def gamma_rows(rng: np.random.Generator) -> np.ndarray:
    """Return all quantiles once, so that two samples differ by nothing but chance in the noise."""
    return rng.permutation(gamma(2).ppf(STEPS))


@pytest.mark.parametrize(
    ("samples", "verdict"),
    [
        (lambda rng: (rng.normal(size=200), rng.normal(size=200)), "No difference found"),
        (lambda rng: (gamma_rows(rng), gamma_rows(rng) + rng.permutation(norm.ppf(STEPS))), "Differ only"),
        (lambda rng: (rng.gamma(2, size=900) + 3, rng.gamma(2, size=900)), "Differ by noise and an offset"),
        (lambda rng: (rng.exponential(size=200), 20 * rng.normal(size=200)), "Too noisy to tell"),
        (lambda rng: (rng.normal(size=12), rng.normal(size=12)), ""),  # the flip test decides; no ME
        (lambda rng: (np.ones((50, 2)), np.ones((50, 2))), "No difference found"),
    ],
    ids=["none", "noise", "offset", "too noisy", "few rows", "constant"],
)
def test_every_verdict_has_a_page(samples, verdict, rng, tmp_path):
    comparison = un.compare(*samples(rng))
    comparison.report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    assert page.texts_in("h2")[0].startswith(verdict)
    assert set(comparison.missing) <= set(page.texts_in("li"))


def test_sketches_without_rows_have_a_page(rng, tmp_path):
    X, Y = rng.gamma(2, size=(2, 500, 2))
    empty = un.Sketch.for_samples(X, Y)
    comparison = un.compare(un.Sketch.like(empty).update(X), un.Sketch.like(empty).update(Y))
    comparison.report(tmp_path / "out.html")
    assert "ME, and places where they differ, need the rows: only sketches were given" in Page(
        tmp_path / "out.html"
    ).texts_in("li")


def test_many_columns_are_folded_and_only_those_that_differ_are_drawn(rng, tmp_path):
    names = [f"column {number}" for number in range(25)]
    comparison = un.compare(*two_frames(rng, 200, names))
    comparison.report(tmp_path / "out.html")
    assert (tmp_path / "out.html").stat().st_size < 300_000
    page = Page(tmp_path / "out.html")
    check_references(page)
    differ = [one for one in comparison.by_column if min(one.adjusted_at_all, one.adjusted_beyond_noise) <= 0.05]
    assert 1 <= len(differ) <= 3
    assert page.texts_in("summary")[0] == f"{25 - len(differ)} more columns without a difference"
    drawn = [text for text in page.texts_in("figcaption") if text.startswith("column ")]
    assert re.fullmatch(r"column 1: [\d.]+ higher in X \([\d.]+ SD\), and another shape \([\d.]+ SD\)", drawn[0])
    assert len([text for text in drawn if "no difference" not in text]) == len(differ)
    assert f"{25 - len(differ)} columns: no difference found" in page.texts_in("li")


def test_each_column_says_what_differs_in_it(rng):
    X, Y = (pd.DataFrame(rng.gamma(2, size=(4_000, 5)), columns=list("abcde")) for _ in range(2))
    Y["a"], Y["b"], Y["c"] = rng.gamma(8, size=4_000) / 4, Y["b"] + 0.6, Y["c"] + rng.normal(size=4_000)
    columns = Columns.of(un.compare(X, Y, names=["old", "new"]))
    assert [(finding.name, finding.kind) for finding in columns.differing] == [
        ("a", Kind.SHAPE),
        ("b", Kind.OFFSET),
        ("c", Kind.NOISIER),
    ]
    assert columns.up_to_offset
    shape, offset, noisier, *_ = columns.findings
    assert shape.effect.estimate > 0.1 > offset.bound  # the offset is told by itself
    assert re.fullmatch(r"0\.6\d* higher in new \(0\.4\d SD\)", offset.text)
    assert offset.offset_sd == pytest.approx(-0.6 / np.sqrt(2), abs=0.04)
    assert noisier.noise.sample == "new"
    assert noisier.noise.sd == pytest.approx(1, abs=0.1)
    assert shape.noise is None


def test_densities_stop_at_zero_and_show_the_old_sample_with_the_noise_of_the_new(rng):
    old, new = rng.exponential(size=(2, 3_000))
    comparison = un.compare(old, new + rng.normal(scale=0.5, size=3_000), names=["old", "new"])
    (picture,) = densities(comparison, Columns.of(comparison).findings)
    assert "old with noise of SD 0.5" in picture.svg
    first_curve = re.search(r'class="mark first dash" d="M([\d.]+) ', picture.svg)
    zero = re.search(r'x="([\d.]+)" y="[\d.]+" text-anchor="middle">0<', picture.svg)
    assert float(first_curve[1]) >= float(zero[1]) - 0.5


@pytest.mark.parametrize(
    ("samples", "start"),
    [
        (lambda rng: (rng.gamma(2, size=120), rng.gamma(2, size=120)), "That no difference was found does not rule"),
        (lambda rng: (rng.gamma(2, size=900) + 3, rng.gamma(2, size=900)), "Take the offset off"),
        (lambda rng: (rng.gamma(2, size=(900, 2)), 4 - rng.gamma(2, size=(900, 2))), "Look at x"),
        (lambda rng: (rng.normal(size=900), 2 * rng.normal(size=900)), "More rows do not help"),
    ],
    ids=["none", "offset", "beyond", "symmetric"],
)
def test_every_verdict_has_advice(samples, start, rng):
    comparison = un.compare(*samples(rng))
    advice = what_next(comparison, Columns.of(comparison))
    assert advice[0].startswith(start)
    planned = [text for text in advice if "would rule out" in text or "To detect" in text]
    assert len(planned) == (2 if start.startswith("That no difference") else 0)


def test_rows_needed_are_about_those_that_rule_the_margin_out(rng):
    comparison = un.compare(rng.gamma(2, size=150), rng.gamma(2, size=150))
    (text,) = [text for text in what_next(comparison, Columns.of(comparison)) if "would rule out" in text]
    n_rows = int(re.search(r"\(([\d,]+) and", text)[1].replace(",", ""))
    bounds = [un.phase_test(*rng.gamma(2, size=(2, n_rows))).effect.upper_bound() for _ in range(5)]
    assert 0.1 < np.median(bounds) < 0.3  # the margin is 0.2


def test_files_have_hashes_and_the_command_is_there(rng, tmp_path, monkeypatch):
    for name in ("old.csv", "new.csv"):
        pd.DataFrame({"x": rng.gamma(2, size=200)}).to_csv(tmp_path / name, index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["uptonoise", "compare", "old.csv", "new.csv", "--report", "out.html", "-q"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    page = Page(tmp_path / "out.html")
    for name in ("old.csv", "new.csv"):
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert f"SHA-256 {digest}" in page.texts_in("span")
    assert page.texts_in("code") == ["uptonoise compare old.csv new.csv --report out.html -q"]
    assert "uptonoise report, 2023-11-14 22:13 UTC" in page.texts_in("p")


def test_a_file_that_has_changed_has_no_hash(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    stamp = FileStamp.of(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("x\n12\n")
    assert file_lines([stamp])[0][0][2] == "changed since it was read"
    (tmp_path / "a.csv").unlink()
    assert file_lines([stamp] * 22) == ([(stamp.name, "4 bytes", "no longer there")] * 20, 2)


def test_clusters_pairs_and_weights_have_their_lines(rng, tmp_path):
    X, Y = rng.gamma(2, size=(2, 400))
    ids = np.repeat(np.arange(40), 10)
    options = [{"clusters": (ids, ids + 40)}, {"paired": True}, {"weights": (np.linspace(1, 2, 400), None)}]
    said = ["400 rows, in 40 and 40 clusters; 1 column", "400 pairs of rows; 1 column", "with weights; 1 column"]
    for number, (given, text) in enumerate(zip(options, said, strict=True)):
        un.compare(X, Y, **given).report(tmp_path / f"{number}.html")
        page = Page(tmp_path / f"{number}.html")
        check_references(page)
        assert [line for line in page.texts_in("p") if text in line]


def test_groups_have_a_page_with_effects_a_tree_and_the_noise_of_each(groups, tmp_path):
    groups.report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    check_references(page)
    assert page.texts_in("h2")[0] == "3 pairs differ beyond noise"
    assert groups.sentence in page.texts_in("p")
    assert [text for text in page.texts_in("li") if text.startswith(": differs from 3 of 3 others, typically by")]
    assert "3 pairs in which no difference was found" in page.texts_in("summary")
    cells = [cell for cell in page.all("td") if (cell.get("class") or "").startswith("shade-")]
    assert len(cells) == 16
    assert sum(cell["class"].split()[0] not in ("shade-0", "shade-1") for cell in cells) == 6
    assert "<i>b</i>" not in page.source
    assert "$c$" in page.texts_in("text")


def test_groups_are_ordered_by_similarity_and_ranked_by_noise(rng):
    samples = {name: rng.gamma(2, size=(2_000, 2)) for name in "abcd"}
    samples["b"] = 6 - samples["b"]
    samples["c"] = samples["c"] + rng.normal(size=(2_000, 2))
    context = groups_context(un.compare_groups(samples))
    assert "b" in (context["ordered"][0], context["ordered"][-1])
    assert [line.name for line in context["standing_out"]] == ["b"]
    noisiest, *others = [line for line in context["by_noise"] if line.name != "b"]
    assert noisiest.name == "c"
    assert noisiest.noise == pytest.approx(1 / np.sqrt(2), abs=0.1)
    assert all(line.noise < 0.2 for line in others)


def test_of_very_many_groups_those_that_differ_most_are_shown(rng, tmp_path):
    samples = {f"g{number}": rng.exponential(size=60) for number in range(20)}
    samples["g7"] = 2 - samples["g7"]
    un.compare_groups(samples).report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    assert [text for text in page.texts_in("p") if "4 more groups not shown here" in text]
    assert "g7" in page.texts_in("bdi")


@pytest.mark.parametrize(
    ("place", "error", "message"),
    [
        ("missing/out.html", FileNotFoundError, "the folder .*missing does not exist; make it first"),
        (".", IsADirectoryError, "is a folder; name a file in it, such as .*report.html"),
        ("old.html", FileExistsError, "old.html exists; force=True overwrites it"),
    ],
)
def test_bad_paths_get_one_clear_line(place, error, message, written, tmp_path):
    (tmp_path / "old.html").write_text("old")
    with pytest.raises(error, match=message) as caught:
        written[0].report(tmp_path / place)
    assert "\n" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["old.html"]


def test_a_folder_that_is_not_writable_gets_one_clear_line(written, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(PermissionError, match=r"the folder .* is not writable"):
        written[0].report(tmp_path / "out.html")


def test_force_overwrites(written, tmp_path):
    (tmp_path / "out.html").write_text("old")
    written[0].report(tmp_path / "out.html", force=True)
    assert (tmp_path / "out.html").read_bytes() == written[1].read_bytes()


def test_a_page_is_written_whole_or_not_at_all(written, tmp_path, monkeypatch):
    (tmp_path / "out.html").write_text("old")

    def fails(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="no space left"):
        written[0].report(tmp_path / "out.html", force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["out.html"]
    assert (tmp_path / "out.html").read_text() == "old"


def test_names_may_hold_what_no_page_may(rng, tmp_path):
    names = ["bell \x07", "nul \x00", "two\nlines", "\u202eturned", " ", "x" * 300]
    un.compare(*two_frames(rng, 100, names), names=["lone \udcff", "--> <!--"]).report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    assert {"bell \ufffd", "nul \ufffd", "lone \ufffd", "two lines", "x" * 300} <= set(page.texts_in("bdi"))


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['jinja2'] = None; import uptonoise; import uptonoise.report"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'ImportError: a report needs jinja2: pip install "uptonoise[cli]"' in ended.stderr


def test_importing_uptonoise_leaves_pictures_and_templates_alone():
    code = "import sys, uptonoise; assert not {'jinja2', 'matplotlib', 'uptonoise.report'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

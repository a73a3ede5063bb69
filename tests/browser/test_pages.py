"""The pages in a real browser: ``make test-browser``."""

from __future__ import annotations

import base64
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import uptonoise as un

from .conftest import look, violations

pytestmark = pytest.mark.browser

SCRIPT = "<script>alert(1)</script>"
OUTSIDE = """
    const outside = [];
    for (const element of document.querySelectorAll("h1, #verdict, .sentence, figure svg, figcaption")) {
        const box = element.getBoundingClientRect();
        const seen = box.width >= 20 && box.height >= 10 && box.left >= 0 && box.right <= innerWidth;
        if (!seen) outside.push(element.outerHTML);
    }
    return outside;
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("pages")
    names = [
        SCRIPT,
        "$x_1$",
        "درجة 温度 😀",
        "a name longer than most, with_no_place_to_break_for_a_long_while",
    ]
    X, Y = (pd.DataFrame(rng.gamma(2, size=(600, 4)), columns=names) for _ in range(2))
    Y[names[1]] *= -1
    markers = [f"marker {number:02d}" for number in range(30)]
    many = [pd.DataFrame(rng.gamma(2, size=(400, 30)), columns=markers) for _ in range(2)]
    many[1]["marker 07"] += 1
    many[1]["marker 11"] *= -1
    monitor = un.Monitor(rng.exponential(size=(2_000, 3)), random_state=0)
    for night in range(40):
        monitor.update(rng.exponential(size=(50, 3)) if night < 20 else 2 - rng.exponential(size=(50, 3)))
    sites = {f"site {n}": rng.gamma(2, size=(200, 3)) + n % 4 * rng.normal(size=(200, 3)) / 3 for n in range(12)}
    sites["site 3"] *= -1
    found = SimpleNamespace(
        comparison=un.compare(X, Y, names=["old", "<b>new</b>"]),
        many=un.compare(*many, names=["old", "new"]),
        groups=un.compare_groups(sites),
        monitor=monitor,
    )
    for name, result in vars(found).items():
        result.report(folder / f"{name}.html")
    return SimpleNamespace(folder=folder, **vars(found))


@pytest.fixture(
    scope="module",
    params=[
        (page, width, scheme)
        for page in ("comparison", "many", "groups", "monitor")
        for width, scheme in ((1280, "dark"), (1100, "light"), (390, "light"), (390, "dark"))
    ],
    ids=lambda param: "-".join(map(str, param)),
)
def opened(driver, pages, request):
    """A page in the browser, with what was logged while it loaded."""
    page, width, scheme = request.param
    look(driver, width, scheme)
    for log in ("browser", "performance"):
        driver.get_log(log)
    url = (pages.folder / f"{page}.html").as_uri()
    driver.get(url)
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    found = getattr(pages, page)
    return SimpleNamespace(
        width=width, scheme=scheme, url=url, found=found, requests=requests, console=driver.get_log("browser")
    )


def test_nothing_is_logged_and_nothing_is_loaded(opened):
    assert opened.console == []
    assert opened.requests[0] == opened.url
    assert all(url.startswith("data:") for url in opened.requests[1:])


def test_the_verdict_and_every_figure_are_seen_within_the_width(opened, driver):
    assert driver.execute_script(OUTSIDE) == []
    assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    found = opened.found.state if isinstance(opened.found, un.Monitor) else opened.found
    assert found.sentence == driver.execute_script("return document.querySelector('.sentence').innerText")


def test_tables_fit_and_nothing_scrolls_sideways(opened, driver):
    boxes = driver.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(box => box.offsetParent !== null)"
        ".map(box => [box.scrollWidth, box.clientWidth, box.tabIndex])"
    )
    assert len(boxes) >= 1
    assert all(tab == 0 for _, _, tab in boxes)
    assert all(inner <= outer for inner, outer, _ in boxes)


def test_no_id_is_there_twice(opened, driver):
    ids = driver.execute_script("return [...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_names_stay_text(opened, driver):
    assert driver.execute_script("return document.scripts.length") == 0
    if opened.url.endswith("comparison.html"):
        assert SCRIPT in driver.execute_script("return [...document.querySelectorAll('bdi')].map(it => it.textContent)")
        assert "<b>new</b>" in driver.execute_script("return document.querySelector('h1').innerText")


def test_lines_and_letters_of_pictures_have_contrast(opened, driver):
    ground, *inks = driver.execute_script(
        "const colour = (element, name) => getComputedStyle(element)[name];"
        "return [colour(document.body, 'backgroundColor'),"
        " ...[...document.querySelectorAll('svg.drawing text')].map(text => colour(text, 'fill')),"
        " ...[...document.querySelectorAll('svg.drawing .mark:not(.grid)')].map(line => colour(line, 'stroke'))]"
    )
    assert len(inks) > 5
    assert (luminance(ground) > 0.5) == (opened.scheme == "light")
    assert min(contrast(ink, ground) for ink in set(inks)) >= 4.5


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_axe_finds_nothing(opened, driver):
    assert violations(driver) == []


@pytest.mark.parametrize(("page", "most"), [("many", 6), ("groups", 8), ("monitor", 6)])
def test_pages_print_on_few_sheets(pages, driver, page, most):
    driver.get((pages.folder / f"{page}.html").as_uri())
    paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
    printed = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page[^s]", printed)) <= most

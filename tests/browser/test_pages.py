"""The pages in a real browser: ``make test-browser``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import uptonoise as un

pytestmark = pytest.mark.browser

SCRIPT = "<script>alert(1)</script>"
AXE = Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
)
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
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    browser, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or chromedriver is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))  # a path, so that none is downloaded
    yield driver
    driver.quit()


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
    found = SimpleNamespace(
        comparison=un.compare(X, Y, names=["old", "<b>new</b>"]),
        groups=un.compare_groups({name: rng.gamma(2, size=(300, 4)) * (-1) ** (name == "c") for name in "abcd"}),
    )
    for name, result in vars(found).items():
        result.report(folder / f"{name}.html")
    return SimpleNamespace(folder=folder, **vars(found))


@pytest.fixture(
    scope="module",
    params=[
        (page, width, scheme)
        for page in ("comparison", "groups")
        for width in (1280, 375)
        for scheme in ("light", "dark")
    ],
    ids=lambda param: "-".join(map(str, param)),
)
def opened(driver, pages, request):
    """A page in the browser, with what was logged while it loaded."""
    page, width, scheme = request.param
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
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
    assert opened.found.sentence == driver.execute_script("return document.querySelector('.sentence').innerText")


def test_wide_tables_scroll_by_themselves_and_by_keyboard(opened, driver):
    widths = driver.execute_script(
        "return [...document.querySelectorAll('main > section > .scroll')]"
        ".map(box => [box.scrollWidth, box.clientWidth, box.tabIndex])"
    )
    assert all(tab == 0 for *_, tab in widths)
    if opened.width == 1280:
        assert all(inner <= outer for inner, outer, _ in widths)


def test_names_stay_text(opened, driver):
    assert driver.execute_script("return document.scripts.length") == 0
    if isinstance(opened.found, un.Comparison):
        assert SCRIPT in driver.execute_script("return [...document.querySelectorAll('bdi')].map(it => it.textContent)")
        assert "<b>new</b>" in driver.execute_script("return document.querySelector('h1').innerText")


def test_pictures_take_the_colours_of_the_page(opened, driver):
    ground, *inks = driver.execute_script(
        "const colour = (element, name) => getComputedStyle(element)[name];"
        "return [colour(document.body, 'backgroundColor'),"
        " ...[...document.querySelectorAll('figure text[style*=currentColor]')].map(text => colour(text, 'fill'))]"
    )
    assert len(inks) > 5
    light = opened.scheme == "light"
    assert (brightness(ground) > 0.9) == light
    assert all((brightness(ink) < 0.3) == light for ink in inks)


def brightness(colour: str) -> float:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) / 3 / 255


def test_axe_finds_no_serious_violation(opened, driver):
    if not AXE.exists():
        pytest.skip(f"axe-core is not at {AXE}: make test-browser installs it where npm is")
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    found = driver.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    serious = [violation for violation in found["violations"] if violation["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []
    assert len(found["passes"]) > 15

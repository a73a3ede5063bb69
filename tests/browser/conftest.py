from __future__ import annotations

import shutil
from pathlib import Path

import pytest

AXE = Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
)


@pytest.fixture(scope="session")
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


def look(driver, width: int, scheme: str) -> None:
    """Give the browser a width and a colour scheme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def violations(driver) -> list[tuple[str, str]]:
    """Return all that axe-core finds in the page."""
    if not AXE.exists():
        pytest.skip(f"axe-core is not at {AXE}: make test-browser installs it where npm is")
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    found = driver.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    assert len(found["passes"]) > 15
    return [(violation["id"], violation["nodes"][0]["html"][:200]) for violation in found["violations"]]

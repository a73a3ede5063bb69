"""The page of ``uptonoise serve`` in a real browser: ``make test-browser``."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from .conftest import look, violations

pytestmark = pytest.mark.browser

SCRIPT = "<script>alert(1)</script>"
DROP = """
    const [zone, files] = arguments, dataTransfer = new DataTransfer();
    for (const [name, text] of files) dataTransfer.items.add(new File([text], name, {type: "text/csv"}));
    document.querySelector(zone).dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    arguments = [sys.executable, "-m", "uptonoise", "serve", "--no-browser", "--max-size", "300"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(folder)})
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.wait(15)
    process.stdout.close()
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("files")
    frames = {name: pd.DataFrame(rng.gamma(2, size=(400, 3)), columns=["a", "b", SCRIPT]) for name in ("old", "new")}
    frames["new"]["b"] += 1
    frames["bad"] = pd.DataFrame({"p": [1.5, 2.5], "q": ["one", "two"]})
    frames["gaps"] = frames["new"].mask(rng.random((400, 3)) < 0.01)
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture
def page(driver, address):
    look(driver, 1280, "light")
    driver.get_log("browser")
    driver.get(address)
    yield Page(driver, address)
    logged = [entry for entry in driver.get_log("browser") if "status of 4" not in entry["message"]]
    assert logged == []  # no error of a script, nothing that the policy has refused


class Page:
    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.1)
        raise AssertionError(self.driver.find_element("css selector", "main").text)

    def give(self, **paths):
        for place, path in paths.items():
            self.find(f"#{place}").send_keys(str(path))
            self.until(lambda place=place: "is ready" in self.text(f"#{place}-state"))
        self.until(lambda: self.find("#compare").is_enabled() and self.settled())

    def settled(self):
        command = self.text("#command")
        time.sleep(0.5)
        return command != "" and self.text("#command") == command

    def compare(self):
        self.find("#compare").click()
        self.until(lambda: self.find("#answer").is_displayed() or self.find("#problem-section").is_displayed())


def test_two_dropped_files_a_changed_column_and_the_verdict(page, csv):
    files = [(name, (csv / name).read_text()) for name in ("old.csv", "new.csv")]
    page.driver.execute_script(DROP, ".drop", files)
    page.until(lambda: "new.csv is ready" in page.text("#second-state"))
    page.until(lambda: page.driver.find_elements("css selector", "#column-2") and page.settled())
    page.find("#column-2").click()
    page.until(lambda: "--columns a,b" in page.text("#command") or "--exclude" in page.text("#command"))
    command = page.text("#command")
    page.compare()
    assert page.text("#sentence").startswith("old.csv and new.csv differ by noise and an offset: old.csv reads")
    assert page.text("#command") == command
    page.driver.switch_to.frame("report")
    page.until(lambda: page.driver.find_elements("css selector", "#verdict"))
    assert page.text("#verdict") == "Differ by noise and an offset"
    assert page.driver.execute_script("return document.scripts.length") == 0
    page.driver.switch_to.default_content()
    assert page.find("#download").get_attribute("href").endswith("/report?download")


def test_a_bad_file_shows_the_message_of_the_command_line(page, csv):
    page.give(first=csv / "old.csv", second=csv / "bad.csv")
    page.until(lambda: "have no common columns: a, b" in page.text("#columns-problem"))
    page.compare()
    assert page.text("#problem") == "tick at least one column to compare"
    page.give(second=csv / "gaps.csv")
    page.compare()
    assert "a value is missing in row" in page.text("#problem")
    assert "--missing drop" in page.text("#problem")
    page.find("#missing option[value=drop]").click()
    page.until(lambda: "--missing drop" in page.text("#command"))
    page.compare()
    assert page.text("#sentence").startswith("old.csv and gaps.csv differ by noise and an offset")


def test_names_of_columns_stay_text(page, csv):
    page.give(first=csv / "old.csv")
    labels = [label.text for label in page.driver.find_elements("css selector", "#columns label")]
    assert labels == ["a", "b", SCRIPT]
    assert page.driver.execute_script("return document.scripts.length") == 1


def test_a_large_file_in_two_tabs_and_cancel(page, tmp_path):
    path = tmp_path / "large.csv"
    rows = pd.DataFrame(np.random.default_rng(0).gamma(2, size=(40_000, 5))).to_csv(index=False, header=False)
    with path.open("w") as file:
        file.write("a,b,c,d,e\n")
        for _ in range(200_000_000 // len(rows) + 1):
            file.write(rows)
    assert path.stat().st_size > 200_000_000
    page.give(first=path, second=path)
    first = page.driver.current_window_handle
    page.find("#compare").click()
    page.until(lambda: "%" in page.text("#label"))
    page.driver.switch_to.new_window("tab")
    page.driver.get(page.address)
    page.until(lambda: page.find("#first").is_displayed())
    assert not page.find("#columns-section").is_displayed()
    page.driver.close()
    page.driver.switch_to.window(first)
    page.find("#cancel").click()
    page.until(lambda: page.text("#problem") == "cancelled", 10)
    assert not page.find("#working").is_displayed()
    assert page.find("#compare").is_enabled()


def test_a_second_tab_waits_for_the_first(page, csv, address):
    page.give(first=csv / "old.csv", second=csv / "new.csv")
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.driver.get(address)
    page.give(first=csv / "old.csv", second=csv / "old.csv")
    page.driver.switch_to.window(first)
    page.find("#compare").click()
    page.driver.switch_to.window(next(name for name in page.driver.window_handles if name != first))
    page.compare()
    assert "of another page is running" in page.text("#problem")
    page.driver.close()
    page.driver.switch_to.window(first)
    page.until(lambda: page.find("#answer").is_displayed())


def test_the_keyboard_is_enough(page, csv):
    from selenium.webdriver import ActionChains, Keys

    page.give(first=csv / "old.csv", second=csv / "new.csv")  # the dialog for files is that of the system
    page.driver.execute_script("document.activeElement.blur()")
    reached = []
    for _ in range(60):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        active = page.driver.switch_to.active_element
        reached.append(active.get_attribute("id") or active.get_attribute("class") or active.tag_name)
        if reached[-1] == "column-1":
            active.send_keys(Keys.SPACE)
        if reached[-1] == "margin":
            active.send_keys(Keys.BACKSPACE * 3 + "0.3")
        if reached[-1] == "compare":
            active.send_keys(Keys.ENTER)
            break
    assert [name for name in reached if name in ("first", "second")] == ["first", "second"]
    assert {"cluster", "column-0", "column-1", "column-2", "margin", "missing", "copy", "compare"} <= set(reached)
    page.until(lambda: page.find("#answer").is_displayed())
    assert page.driver.switch_to.active_element.get_attribute("id") == "sentence"
    assert "--margin 0.3" in page.text("#command")
    assert not page.find("#column-1").is_selected()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (1100, "light"), (390, "light"), (390, "dark")])
def test_axe_finds_nothing_before_and_after(page, csv, width, scheme):
    look(page.driver, width, scheme)
    assert violations(page.driver) == []
    page.give(first=csv / "old.csv", second=csv / "new.csv")
    page.driver.execute_script("document.querySelector('details').open = true")
    assert violations(page.driver) == []
    page.compare()
    assert violations(page.driver) == []
    assert page.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")

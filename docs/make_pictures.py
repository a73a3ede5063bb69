"""Draw the pictures of the pages into docs/_static: run ``.venv/bin/python docs/make_pictures.py``."""

import doctest
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from picture_sources import record

import uptonoise as un
from uptonoise import plots
from uptonoise.datasets import load_air_quality, load_blood_pressure

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"


DRAWN: list[str] = []


def save(axes: object, name: str) -> None:
    """Write the figure of some Axes, and close it."""
    DRAWN.append(name)
    figure = np.ravel(axes)[0].figure
    # Without a date or a version the same picture is the same file.
    figure.savefig(STATIC / name, dpi=110, metadata={"Software": None})
    plt.close(figure)


QUESTIONS = (
    ("Should a difference in noise count, too?", "mmd_test, me_test"),
    ("Will you look again and again?", "Monitor"),
    ("More than two groups?", "compare_groups"),
    ("Is row i of both samples the same object?", "compare(paired=True)"),
    ("Do you want one answer in words?", "compare"),
    ("Fewer than 50 rows, or an exact guarantee?", "flip_test"),
    ("May the zero point differ?", 'phase_test(\n  invariant_to="noise+shift")'),
)


def draw_chart() -> None:
    """Draw which test to use: questions from top to bottom, each with what to use if the answer is yes."""
    _, ax = plt.subplots(figsize=(7.2, 7.0), layout="constrained")
    question = {"boxstyle": "round,pad=0.5", "facecolor": "#EAF2F8", "edgecolor": "#0072B2"}
    answer = {"boxstyle": "round,pad=0.5", "facecolor": "#FDF2E9", "edgecolor": "#D55E00"}
    arrow = {"arrowstyle": "-|>", "color": "0.3"}
    for place, (asked, used) in enumerate(QUESTIONS):
        wrapped = textwrap.fill(asked, 26)
        ax.annotate("", (0.60, -place), (0.42, -place), arrowprops=arrow)
        ax.text(0.51, -place + 0.1, "yes", ha="center", fontsize=11)
        ax.annotate("", (0.2, -place - 0.72), (0.2, -place - 0.25), arrowprops=arrow)
        ax.text(0.225, -place - 0.53, "no", fontsize=11)
        ax.text(0.2, -place, wrapped, ha="center", va="center", fontsize=12, bbox=question)
        ax.text(0.8, -place, used, ha="center", va="center", fontsize=12, family="monospace", bbox=answer)
    ax.text(0.2, -len(QUESTIONS), "phase_test", ha="center", va="center", fontsize=12, family="monospace", bbox=answer)
    ax.text(
        0.62,
        -len(QUESTIONS),
        "Rows that belong together, such as cells\nof a patient: add clusters=.",
        ha="center",
        va="center",
        fontsize=11,
        color="0.25",
    )
    ax.set(xlim=(-0.02, 1.06), ylim=(-len(QUESTIONS) - 0.5, 0.5))
    ax.set_axis_off()
    save(ax, "which-test.png")


def draw_page(name: str) -> None:
    """Run the examples of a page, and save the figure that each section draws under the name that it shows."""
    names: dict[str, Any] = {}
    for section in (DOCS / name).read_text(encoding="utf-8").split("\n## "):
        for example in doctest.DocTestParser().get_examples(section):
            exec(example.source, names)
        picture = re.search(r"\(_static/([\w-]+\.png)\)", section)
        if picture and plt.get_fignums():
            save(plt.gcf().axes[0], picture[1])
        plt.close("all")


def draw_blood_pressure() -> None:
    """Draw the case study of blood pressure, from the file of the survey."""
    readings = load_blood_pressure().systolic
    order = np.random.default_rng(0).permutation(len(readings))
    half = len(order) // 2
    one, three = readings[order[:half], 0], readings[order[half:]].mean(axis=1)
    column = "systolic blood pressure, mm Hg"
    frames = (pd.DataFrame({column: values}) for values in (one, three))
    comparison = un.compare(*frames, names=("one reading", "mean of three"))
    _, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    plots.plot_densities(comparison, 0, ax=axes[0]).set_xlabel("")
    plots.plot_effect(comparison, ax=axes[1])
    save(axes, "case-blood-pressure.png")


def draw_air() -> None:
    """Draw the case study of air quality, from the file of the station."""
    hours = load_air_quality().values[:, 0]
    first, last = hours[:8_760], hours[-8_760:]
    names, lengths = ("2013", "2016"), {"1 hour": 1, "1 day": 24, "1 week": 168, "2 weeks": 336}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.DependentRowsWarning)
        frames = (pd.DataFrame({"PM2.5, micrograms per cubic metre": values}) for values in (first, last))
        comparison = un.compare(*frames, names=names)
    _, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    plots.plot_densities(comparison, 0, ax=axes[0]).set_xlabel("")
    pvalues = [
        un.phase_test(first, last, clusters=(un.blocks(8_760, length), un.blocks(8_760, length) + 10_000)).pvalue
        for length in lengths.values()
    ]
    axes[1].plot(range(len(lengths)), pvalues, "o", color="#0072B2", markersize=8)
    axes[1].axhline(0.05, color="0.45", linestyle="--", linewidth=0.8)
    axes[1].set_xticks(range(len(lengths)), list(lengths))
    axes[1].set(yscale="log", ylabel="p-value beyond noise", xlabel="length of a block that counts as one cluster")
    axes[1].set_title("Hours are not independent", loc="left", fontsize="medium")
    axes[1].spines[["top", "right"]].set_visible(False)
    save(axes, "case-air.png")


def draw_report() -> None:
    """Take a picture of the top of a report, with a browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError("no Chromium to take a picture of a report")
    rng = np.random.default_rng(1)
    old, new = (pd.DataFrame(rng.gamma(2, size=(3_000, 3)), columns=["flow", "pressure", "pH"]) for _ in range(2))
    new += rng.normal(size=new.shape) * [1.0, 0.5, 0.5]
    new["pressure"] += 0.4
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        un.compare(old, new, names=("old sensor", "new sensor")).report(page)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,760"]
        command = [browser, *options, f"--screenshot={STATIC / 'report.png'}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    DRAWN.append("report.png")


def draw_local_page() -> None:
    """Take a picture of the page of ``uptonoise serve``, with two files and their answer."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    browser, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or chromedriver is None:
        raise FileNotFoundError("no Chromium with its driver to take a picture of the local page")
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, shift in (("old", 0.0), ("new", 0.4)):
            frame = pd.DataFrame(rng.gamma(2, size=(1_000, 3)), columns=["flow", "pressure", "pH"])
            frame["pressure"] += shift
            frame.to_csv(Path(folder, f"{name}.csv"), index=False)
        server = subprocess.Popen(
            [sys.executable, "-m", "uptonoise", "serve", "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,1560"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        try:
            driver.get(server.stdout.readline().split()[-1])
            for place, name in (("first", "old"), ("second", "new")):
                driver.find_element("id", place).send_keys(str(Path(folder, f"{name}.csv")))
            _wait(lambda: "is ready" in driver.find_element("id", "second-state").text)
            _wait(lambda: driver.find_element("id", "compare").is_enabled())
            driver.find_element("id", "compare").click()
            _wait(lambda: driver.find_element("id", "answer").is_displayed())
            time.sleep(2)  # for the report in its frame
            driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
            driver.save_screenshot(str(STATIC / "serve.png"))
        finally:
            driver.quit()
            server.terminate()
            server.wait()
    DRAWN.append("serve.png")


def _wait(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise TimeoutError("the local page did not get there within a minute")


def draw_plots() -> None:
    """Draw the pictures of the page on plots."""
    rng = np.random.default_rng(0)
    old, new = rng.gamma(2, size=(3_000, 2)), rng.gamma(2, size=(3_000, 2)) + rng.normal(size=(3_000, 2))
    save(un.compare(old, new, names=["old", "new"]).plot(), "plots-overview.png")

    X, noisy = rng.chisquare(4, (2, 5_000)) / 4
    noisy = noisy + rng.normal(scale=0.5, size=5_000)
    _, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    options = {"names": ["X", "noisy"], "law": lambda t: (1 - 0.5j * t) ** -2, "frequencies": np.linspace(0, 6, 200)}
    plots.plot_characteristic(X, noisy, part="amplitude", ax=axes[0], **options)
    plots.plot_phase(X, noisy, centre=0, ax=axes[1], **options)
    save(axes, "plots-phase.png")

    X, Y = rng.normal(size=(2, 2_000, 2))
    Y[:300] = rng.normal([2, 2], 0.3, size=(300, 2))
    save(plots.plot_locations(un.me_test(X, Y, random_state=0), (X, Y)), "plots-locations.png")

    sites = {f"site {number}": rng.gamma(2 + 2 * (number % 4 == 3), size=400) for number in range(1, 13)}
    save(un.compare_groups(sites).plot(), "plots-heat-map.png")


def main() -> None:
    """Draw them all; those of real data and of a browser only where these are."""
    mpl.use("agg")
    STATIC.mkdir(exist_ok=True)
    draw_chart()
    draw_plots()
    for page in ("gallery.md", "case-sensor.md"):
        draw_page(page)
    for draw in (draw_report, draw_local_page, draw_blood_pressure, draw_air):
        try:
            draw()
        except FileNotFoundError as error:
            print(f"left as it is: {error}")
    record(DRAWN)


if __name__ == "__main__":
    main()

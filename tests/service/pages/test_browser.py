"""The page in a real browser: by keyboard, with what the browser keeps, without JavaScript, and as axe-core sees it."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

import sciretrieve as sr
from sciretrieve.lifecycle import add_full_texts
from sciretrieve.service.app import make_app
from sciretrieve.service.library import Library
from sciretrieve.service.settings import ServiceSettings
from tests.service.served import served

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]
PATIENCE = 20_000
"""Milliseconds: a machine may be busy."""
expect.set_options(timeout=PATIENCE)
QUERY = "/?q=graph+networks"
CITING = "It+has+been+shown+that+a+network+is+made+of+a+small+graph."
MODULES = ("keys", "map", "saved", "suggestions", "theme", "years")
SCRIPTED = ".scripted" + "".join(f".has-{name}" for name in MODULES)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; install the package chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small index that changes, and whose papers cite each other."""
    path = tmp_path_factory.mktemp("small") / "small"
    papers: list[dict[str, Any]] = [
        {"id": f"small{number}", "title": f"Small networks {number}", "abstract": "Of a small graph.", "references": ["small0", "W1"]}
        for number in range(5)
    ]
    papers.append({"id": "50%2F/a//b?c#d", "title": "Oddly named networks"})
    papers[1]["text"] = "1 Methods\n\nA network is made of a graph. Networks are small.\n\n2 Results\n\nGraph networks are better.\n"
    sr.build(papers, path, encoder=None, progress=False).close()
    add_full_texts("text", path, progress=False)
    return path


@pytest.fixture(scope="module")
def service(index: sr.Index, library: Path) -> Library:
    return Library([index.path, library])


@pytest.fixture(scope="module")
def address(service: Library) -> Iterator[str]:
    with served(make_app(service, ServiceSettings(following=60), log=lambda line: None)) as address:
        yield address


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Opens the page at a path, in a browser of its own; nothing on it may fail."""
    faults: list[str] = []
    with ExitStack() as contexts:

        def open_page(path: str, **settings: Any) -> Page:
            context = contexts.enter_context(closing(browser.new_context(**settings)))
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
            page.goto(address + path)
            if settings.get("java_script_enabled", True):
                scripted(page)
            return page

        yield open_page
    assert [fault for fault in faults if "status of 400" not in fault] == []


def scripted(page: Page) -> None:
    """Wait until all scripts are there, which come each by itself after the page."""
    expect(page.locator(SCRIPTED)).to_have_count(1)


def settled(page: Page) -> None:
    """Wait until what comes later is there."""
    expect(page.locator("[data-later]")).to_have_count(0)


def asked(page: Page) -> dict[str, list[str]]:
    """What the page's address asks for."""
    return parse_qs(urlsplit(page.url).query)


def titles(page: Page) -> list[str]:
    return page.locator("main .hits .title").all_inner_texts()


def test_someone_finds_and_exports_three_papers_by_keyboard(opened: Callable[..., Page]) -> None:
    page = opened("/", accept_downloads=True)
    expect(page.locator("#q")).to_be_focused()  # a moment after the page is there
    page.keyboard.type("graph networks")
    page.keyboard.press("Enter")
    expect(page.locator(".hits > .hit")).to_have_count(20)
    assert asked(page) == {"q": ["graph networks"]}
    names = [hit.get_attribute("data-name") for hit in page.locator(".hits > .hit").all()]
    for key in ("j", "s", "j", "s", "ArrowDown", "s", "k"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.closest('.hit').dataset.name") == names[1]
    expect(page.locator("[data-shelf-count]")).to_have_text("3")
    with page.expect_download() as download:
        page.get_by_role("button", name="BibTeX").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").count("\n@") + 1 == 3

    page.reload()  # loses nothing
    expect(page.locator(".hits :checked")).to_have_count(3)
    page.goto(page.url.partition("?")[0] + "shelf")
    expect(page.locator(".hits > .hit")).to_have_count(3)
    assert [hit.get_attribute("data-name") for hit in page.locator(".hits > .hit").all()] == names[:3]
    page.get_by_role("button", name="Clear the shelf").click()
    expect(page.locator("[data-shelf-count]")).to_be_hidden()
    expect(page.locator(".exports")).to_be_hidden()
    page.get_by_role("button", name="Put them back").click()
    expect(page.locator("[data-shelf-count]")).to_have_text("3")


def test_likes_rank_at_once_and_every_state_is_an_address(opened: Callable[..., Page], address: str) -> None:
    page = opened(QUERY)
    page.evaluate("window.same = true")
    before = titles(page)
    page.keyboard.press("j")
    page.keyboard.press("m")
    expect(page.locator(".chips a")).to_have_count(1)
    liked = titles(page)
    assert liked != before
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(page.locator(".chips a")).to_have_count(2)
    assert set(asked(page)) == {"q", "like", "unlike"}
    assert page.evaluate("window.same")  # it was never loaded anew
    page.go_back()
    expect(page.locator(".chips a")).to_have_count(1)
    assert titles(page) == liked
    page.goto(page.url)
    assert titles(page) == liked
    page.locator(".chips a").click()
    expect(page.locator(".chips")).to_have_count(0)
    assert titles(page) == before


def test_years_are_dragged_over_or_clicked(opened: Callable[..., Page]) -> None:
    page = opened(QUERY)
    chart = page.locator(".years")
    expect(chart).to_be_visible()
    first, last = map(int, str(chart.get_attribute("data-years")).split("-"))
    box = chart.bounding_box()
    assert box is not None
    width = box["width"] / (last - first + 1)
    page.mouse.move(box["x"] + 3.5 * width, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 7.5 * width, box["y"] + 40, steps=3)
    page.mouse.up()
    expect(page.locator(".chips")).to_contain_text(f"{first + 3}-{first + 7}")
    assert asked(page)["year"] == [f"{first + 3}-{first + 7}"]
    settled(page)
    expect(page.locator(".years .chosen")).to_have_count(5)
    page.locator(".years a").nth(5).click()
    expect(page.locator(".chips")).to_contain_text(f"years {first + 5}")
    assert asked(page)["year"] == [str(first + 5)]
    settled(page)
    page.get_by_label("First year").fill("2001")
    page.get_by_label("Last year").fill("")
    page.get_by_label("Last year").press("Enter")
    expect(page.locator(".chips")).to_contain_text("2001-")
    assert "extra" not in asked(page)


def test_reasons_come_after_the_papers(opened: Callable[..., Page], index: sr.Index) -> None:
    page = opened(f"{QUERY}&index={index.names[0]}")
    settled(page)
    page.locator(".badges summary").first.click()
    (why,) = sr.answer(index, sr.Request("graph networks", k=21, explain=True)).explanations[:1]
    expect(page.locator(".why").first).to_contain_text(why.sentence)
    assert why.bm25 is not None
    expect(page.locator(".why details").first).to_contain_text(f"BM25 rank {why.bm25.rank}")


def test_suggestions_are_a_combobox(opened: Callable[..., Page]) -> None:
    page = opened("/")
    box = page.get_by_role("combobox", name="Search papers")
    box.press_sequentially("lovel")
    option = page.get_by_role("option").first
    expect(option).to_contain_text("Ada Lovelace")
    box.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == option.get_attribute("id")
    box.press("Escape")
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(box).to_have_value("lovel")
    box.press_sequentially("a")
    expect(option).to_be_visible()
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")


def test_any_id_leads_to_its_paper(opened: Callable[..., Page]) -> None:
    page = opened("/?q=oddly+named&index=small")
    page.locator(".hits .title").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Oddly named networks")
    expect(page.locator("article")).to_have_attribute("data-name", "small:50%2F/a//b?c#d")


def test_a_saved_search_tells_what_is_new(opened: Callable[..., Page], library: Path, service: Library) -> None:
    page = opened("/?q=small+networks&index=small")
    page.get_by_role("button", name="Save this search").click()
    expect(page.locator("[data-saved-count]")).to_have_text("1")
    saved = page.url.partition("?")[0] + "saved"
    page.goto(saved)
    expect(page.locator("[data-saved-page]")).to_contain_text("Nothing new")
    sr.add([{"id": "late", "title": "Small networks that came late"}], library, progress=False)
    assert service.follow()
    page.reload()
    expect(page.locator(".new")).to_have_text("1 new")
    expect(page.locator(".search-saved .hit .title")).to_have_text("Small networks that came late")
    page.reload()  # loses nothing
    page.get_by_role("button", name="Seen").click()
    page.reload()
    expect(page.locator("[data-saved-page]")).to_contain_text("Nothing new")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("[data-saved-count]")).to_be_hidden()
    page.reload()
    expect(page.get_by_text("None is saved")).to_be_visible()


def test_what_is_seen_stays_where_the_service_does_not_answer(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address + QUERY)
    settled(page)
    before = titles(page)
    page.context.set_offline(True)
    page.get_by_role("link", name="Newest first").click()
    expect(page.locator("#said")).to_contain_text("does not answer")
    assert titles(page) == before
    page.context.set_offline(False)
    page.get_by_role("link", name="Newest first").click()
    expect(page.locator(".views strong")).to_have_text("Newest first")
    page.close()


@pytest.mark.parametrize("failing", ["keys", "saved"])
def test_a_script_that_does_not_come_takes_nothing_else_with_it(failing: str, browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.route(f"**/{failing}.js", lambda route: route.abort())
    page.goto(address + QUERY)
    settled(page)
    page.locator("[data-shelf]").first.check()
    expect(page.locator("[data-shelf-count]")).to_have_text("1")
    page.reload()
    expect(page.locator("[data-shelf]").first).to_be_checked()
    others = "".join(f".has-{name}" for name in MODULES if name != failing)
    expect(page.locator(f".scripted{others}:not(.has-{failing})")).to_have_count(1)
    if failing == "saved":
        page.goto(f"{address}/saved")
        expect(page.locator(".unsaved")).to_be_visible()
    page.close()


def test_without_the_script_that_must_come_the_page_says_how_to_do_without(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.route("**/page.js", lambda route: route.fulfill(status=503))
    page.goto(address + QUERY)
    expect(page.get_by_role("link", name="Why each is here")).to_be_visible()
    page.get_by_role("link", name="Narrow down by year, venue and author").click()
    expect(page.locator("#narrow li").first).to_be_visible()
    page.close()


def test_colours_are_chosen_and_kept(opened: Callable[..., Page]) -> None:
    page = opened(QUERY, color_scheme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(colour)
    assert dark != "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(colour) == dark
    expect(page.get_by_role("button", name="Light")).to_be_visible()


def test_without_javascript_it_is_a_list_to_narrow_down_and_export(opened: Callable[..., Page]) -> None:
    page = opened("/", java_script_enabled=False, accept_downloads=True)
    page.get_by_label("Search papers").fill("graph networks")
    page.get_by_role("button", name="Search").click()
    assert page.locator(".hits > .hit").count() == 20
    page.get_by_role("link", name="Narrow down by year").click()
    page.locator(".bars a").first.click()
    assert page.locator(".chips a").count() == 1
    for place in range(3):
        page.locator(".hits [type=checkbox]").nth(place).check()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSL").click()
    assert len(json.loads(Path(download.value.path()).read_text(encoding="utf-8"))) == 3


SCREENS: list[dict[str, Any]] = [
    {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    {"color_scheme": "dark", "viewport": {"width": 380, "height": 800}},
]


@pytest.mark.parametrize("screen", SCREENS, ids=["light and wide", "dark and narrow"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    opened: Callable[..., Page], address: str, screen: dict[str, Any], pytestconfig: pytest.Config
) -> None:
    """Axe looks at each page on one of the screens, and at the next commit on the other; with --torture on both."""
    page = opened("/", **screen)
    first, step = ((SCREENS.index(screen) + pytestconfig.option.quarter) % 2, 2) if not pytestconfig.option.torture else (0, 1)
    paths = ["/", f"{QUERY}&like=small:small1&year=2000-2020", "/map?q=graph+networks&index=made-up", "/paper/small:small0"]
    paths += ["/?q=small+networks&index=small", "/paper/small:small1?q=graph", "/paper/small:small1"]
    paths += [
        "/author?name=Ada+Lovelace",
        "/shelf",
        "/shelf?id=small:small0",
        "/saved",
        "/draft",
        f"/draft?text={CITING}",
        f"{QUERY}&filter=x+y",
    ]
    for path in paths:
        page.goto(address + path)
        settled(page)
        if path in paths[first::step]:
            found = Axe().run(page).response["violations"]
            assert [(path, fault["id"], fault["nodes"][0]["html"]) for fault in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"], path
    if first == 1:
        return
    page.goto(address)
    scripted(page)
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("graph")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    assert Axe().run(page).response["violations"] == []
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert Axe().run(page).response["violations"] == []

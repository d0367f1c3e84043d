"""Pages without JavaScript: they have the library's answers, every state is an address, and what papers say is text and nothing else."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

import sciretrieve as sr
from sciretrieve.answers import outputs
from sciretrieve.service.pages.state import shelf_path
from tests.service.pages.pages_read import Element, read
from tests.service.served import client_of

BROWSER = {"Accept": "text/html,application/xhtml+xml"}
HOSTILE: list[dict[str, Any]] = [
    {
        "id": "a b/c?d#e%&f\"g'h",
        "title": "Graph <script>alert(1)</script> networks' \"quoted\" & &lt;entity&gt; {{ 7 * 7 }} {% raw %}",
        "abstract": "A graph. <img src=x onerror=alert(1)> Networks of $\\alpha_{<b>}$ graphs.\n\nSecond \x07 paragraph </p></main>",
        "year": 2001,
        "venue": '"><svg onload=alert(1)>',
        "authors": ["<b>Eve</b> O'Neil", "\u202eMallory"],
        "url": "javascript:alert(1)",
        "references": ["rtl", "<script>elsewhere</script>"],
    },
    {"id": "rtl", "title": "graph \u202egnol\u202c right \u05d0\u05d1", "abstract": "Graph networks.", "year": 2002, "url": "https://example.org/a?b=1&c=<d>"},
    {"id": "", "title": "", "abstract": "Graph networks without a title.", "url": "data:text/html,<script>alert(1)</script>"},
    {"id": "gone", "title": "RETRACTED: Graph networks that never were", "year": 2003, "authors": ["<b>Eve</b> O'Neil"]},
    *({"id": f"more{number}", "title": f"Graph networks {number}", "year": 1990 + number, "venue": "Venue & <Co>"} for number in range(4)),
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index of papers that mean harm."""
    papers = [paper if paper["id"] else {**paper, "id": "untitled"} for paper in HOSTILE]
    return sr.build(papers, tmp_path_factory.mktemp("hostile") / "hostile", progress=False)


@pytest.fixture(scope="module")
def client(index: sr.Index) -> Iterator[TestClient]:
    with client_of(index.path, headers=BROWSER, most=60, query=500) as client:
        yield client


@pytest.fixture(scope="module")
def harmed(hostile: sr.Index) -> Iterator[TestClient]:
    with client_of(hostile.path, headers=BROWSER) as client:
        yield client


@pytest.fixture(scope="module")
def followed() -> set[str]:
    """The links that were followed, so that none is followed from every page that has it."""
    return set()


def page(client: TestClient, address: str, status: int = 200) -> Element:
    """The page at an address."""
    response = client.get(address)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return read(response.text)


def names(page: Element) -> list[str]:
    """The names of the papers in a list."""
    return [hit.attributes["data-name"] for hit in page.all("li", kind="hit")]


def test_the_start_has_a_box_and_says_what_is_searched(client: TestClient, index: sr.Index) -> None:
    start = page(client, "/")
    box = start.one("input", name="q")
    assert (box.attributes["value"], "autofocus" in box.attributes) == ("", True)
    assert f"{len(index):,} papers in {index.names[0]}" in start.one("main").text
    assert start.all("select") == []


def test_answers_are_the_library_s(client: TestClient, index: sr.Index) -> None:
    expected = sr.answer(index, sr.Request("graph networks", k=41))
    first = page(client, "/?q=graph+networks")
    assert names(first) == [hit.id for hit in expected.hits[:20]]
    assert first.one(kind="total").text.lower() == outputs.total(expected)
    assert first.one("input", name="q").attributes["value"] == "graph networks"
    second = page(client, first.one("a", rel="next").attributes["href"])
    assert names(second) == [hit.id for hit in expected.hits[20:40]]
    assert second.one("ol", kind="hits").attributes["start"] == "21"
    assert page(client, second.one("a", rel="prev").attributes["href"]).one("main").text == first.one("main").text


def test_the_last_page_has_no_next(client: TestClient, index: sr.Index) -> None:
    count = len(sr.answer(index, sr.Request("venue:acl graph -star year:2005-2018", k=500)).hits)
    pages, state = 1, page(client, "/?q=venue:acl+graph+-star+year:2005-2018")
    found = names(state)
    while state.all("a", rel="next"):
        state = page(client, state.one("a", rel="next").attributes["href"])
        found += names(state)
        pages += 1
    assert len(found) == count
    assert pages == -(-count // 20) > 1


def test_words_are_marked_and_reasons_are_given(client: TestClient, index: sr.Index) -> None:
    hit = page(client, "/?q=graph+networks").all("li", kind="hit")[0]
    paper = index[hit.attributes["data-name"]]
    assert hit.one("a", kind="title").text == paper.title
    assert {mark.text for mark in hit.one("a", kind="title").all("mark")} <= {"graph", "networks"}
    assert hit.one("a", kind="title").all("mark")
    assert hit.one(kind="sentence").text in " ".join(paper.abstract.split())
    badges = [badge.text for badge in hit.one("ul", kind="badges").children]
    has = len({"graph", "networks"} & set(f"{paper.title} {paper.abstract}".split()))
    assert f"{has} of 2 words" in badges
    assert all("dense rank" not in badge for badge in badges)


def test_every_reason_is_told_if_asked_for(client: TestClient, index: sr.Index) -> None:
    first = page(client, "/?q=graph+networks")
    why = page(client, next(link for link in first.all("a") if link.text == "Why each is here").attributes["href"])
    (expected,) = sr.answer(index, sr.Request("graph networks", k=21, explain=True)).explanations[:1]
    hit = why.all("li", kind="hit")[0]
    assert names(why) == names(first)
    assert hit.one(kind="sentence").text == " ".join(expected.sentence.split())
    assert expected.bm25 is not None
    assert f"BM25 rank {expected.bm25.rank}" in hit.one("details").text


def test_more_like_this_and_not_this_rank_anew(client: TestClient, index: sr.Index) -> None:
    first = page(client, "/?q=star+galaxy")
    liked, unliked = names(first)[:2]
    one = page(client, first.all("a", kind="more")[0].attributes["href"])
    assert liked not in names(one)
    (less,) = (hit.one("a", kind="less") for hit in one.all("li", kind="hit") if hit.attributes["data-name"] == unliked)
    both = page(client, less.attributes["href"])
    expected = sr.answer(index, sr.Request("star galaxy", [liked], [unliked], k=20))
    assert names(both) == [hit.id for hit in expected.hits]
    chips = both.one("ul", kind="chips").all("a")
    assert [chip.text.split()[1] for chip in chips] == ["more", "not"]
    assert names(page(client, chips[1].attributes["href"])) == names(one)


def test_answers_are_narrowed_down_by_bars_and_years(client: TestClient, index: sr.Index) -> None:
    options = sr.SearchOptions(since=2005, until=2015, filter='venue in ("ACL")')
    narrowed = page(client, "/?q=graph&year=2005-2015&venue=ACL&extra=facets")
    assert names(narrowed) == [hit.id for hit in sr.answer(index, sr.Request("graph", k=20, options=options)).hits]
    (by_venue,) = sr.answer(index, sr.Request("graph", k=1, options=options, facets=["venue"])).facets
    chosen = narrowed.one("aside").all("a", aria_current="true")
    assert [bar.text for bar in chosen] == [f"ACL {dict(by_venue.values)['ACL']}"]
    assert "venue=ACL" not in chosen[0].attributes["href"]
    (years,) = sr.answer(index, sr.Request("graph", k=1, options=sr.SearchOptions(filter=options.filter), facets=["year:99"])).facets
    bars = narrowed.one("svg", kind="years").all("a")
    assert {bar.text for bar in bars} >= {f"{year}: {count}" for year, count in years.values}
    assert [bar.text[:4] for bar in bars if bar.all(kind="chosen")] == [str(year) for year in range(2005, 2016)]
    assert parse_qs(urlsplit(bars[0].attributes["href"]).query)["year"] == [bars[0].text[:4]]


def test_a_form_of_years_is_a_range(client: TestClient) -> None:
    by_form = page(client, "/?q=graph&since=2005&until=2010")
    assert names(by_form) == names(page(client, "/?q=graph&year=2005-2010"))
    assert names(page(client, "/?q=graph&since=2005&until=")) == names(page(client, "/?q=graph&year=2005-"))
    assert names(page(client, "/?q=graph&since=&until=")) == names(page(client, "/?q=graph"))


def test_a_map_has_a_point_for_each_of_the_first_papers(client: TestClient, index: sr.Index) -> None:
    answers = page(client, "/?q=graph+networks")
    (link,) = (link for link in answers.all("a") if link.text == "Map")
    drawn = page(client, link.attributes["href"]).one("svg", kind="map")
    points = {point.attributes["href"]: point for point in drawn.all("a")}
    assert set(points) == {f"/paper/{hit.id}" for hit in sr.answer(index, sr.Request("graph networks", k=60)).hits}
    circles = [point.one("circle").attributes for point in points.values()]
    assert all(0 < float(circle["cx"]) < 900 and 0 < float(circle["cy"]) < 560 for circle in circles)
    assert len({(circle["cx"], circle["cy"]) for circle in circles}) > 50
    groups = drawn.all("g", kind="group")
    assert len(groups) > 1
    assert sum(len(group.all("a")) for group in groups) == len(points)
    assert all(text.text for text in drawn.all("text"))


def test_words_alone_have_no_map(built: Any) -> None:
    with client_of(built(encoder=None).path, headers=BROWSER) as client:
        assert all(link.text != "Map" for link in page(client, "/?q=graph").all("a"))
        assert "vectors" in page(client, "/map?q=graph", 400).one("h1").text


def test_a_paper_s_page_has_its_surroundings(harmed: TestClient, hostile: sr.Index) -> None:
    citing = page(harmed, "/paper/rtl")
    name = HOSTILE[0]["id"]
    (section,) = (part for part in citing.all("section") if part.attributes.get("aria-labelledby") == "cited")
    link = section.one("a", kind="title")
    (known,) = hostile.papers([name])
    assert link.text == known.title
    paper = page(harmed, link.attributes["href"])
    assert paper.one("article").attributes["data-name"] == name
    assert [author.text for author in paper.one(kind="authors").all("a")] == [author.lstrip("\u202e") for author in known.authors]
    (cites,) = (part for part in paper.all("section") if part.attributes.get("aria-labelledby") == "cites")
    assert cites.one("a", kind="title").attributes["href"] == "/paper/rtl"
    assert "<script>elsewhere</script>" in cites.one("details").text
    near = {hit.id for hit in sr.profile(hostile, "rtl").similar}
    (similar,) = (part for part in citing.all("section") if part.attributes.get("aria-labelledby") == "similar")
    assert len(similar.all("a", kind="title")) == len(near)


def test_an_author_s_page_has_the_papers_the_latest_first(harmed: TestClient) -> None:
    paper = page(harmed, "/paper/gone")
    author = page(harmed, paper.one(kind="authors").one("a").attributes["href"])
    assert names(author) == ["gone", HOSTILE[0]["id"]]
    page(harmed, "/author?name=Nobody", 404)


def test_what_was_retracted_says_so(harmed: TestClient) -> None:
    flags = {hit.attributes["data-name"]: bool(hit.all(kind="retracted")) for hit in page(harmed, "/?q=graph").all("li", kind="hit")}
    assert [name for name, flag in flags.items() if flag] == ["gone"]


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/?q=graph+networks&extra=facets&extra=why",
        "/?q=%3Cscript%3Ealert(1)%3C/script%3E&venue=%22%3E%3Csvg+onload=1%3E&extra=facets",
        "/?q=graph&like=a%20b%2Fc%3Fd%23e%25%26f%22g%27h&unlike=rtl&year=1990-2005&filter=title+contains+%22graph%22",
        "/map?q=graph",
        "/paper/a%20b%2Fc%3Fd%23e%25%26f%22g%27h",
        "/paper/untitled",
        "/author?name=Eve+O%27Neil",
        "/shelf?id=a%20b%2Fc%3Fd%23e%25%26f%22g%27h&id=%3Cscript%3E",
        "/saved",
        "/draft?text=It+has+been+shown+by+Eve+O%27Neil+that+graph+networks+%3Cscript%3Ealert(1)%3C/script%3E+of+%7B%7B+7+*+7+%7D%7D+are+%E2%80%AEgnol.",
    ],
)
def test_what_papers_and_addresses_say_is_text(harmed: TestClient, followed: set[str], address: str) -> None:
    whole = page(harmed, address)
    scripts = whole.all("script")
    assert all(not script.text and script.attributes["src"].startswith("/static/") for script in scripts)
    assert whole.all("img") == whole.all("b") == whole.all("style") == []
    assert len(whole.all("main")) == 1
    assert "49" not in whole.text or "{{ 7 * 7 }}" in whole.text
    for element in whole.within():
        attributes = element.attributes
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        link = attributes.get("href") or attributes.get("src") or attributes.get("action") or "/"
        assert link.startswith(("/", "#", "http://testserver/", "https://example.org/")), link
        assert not link.startswith("//")
        assert "\u202e" not in element.own or element.is_in("bdi", "title", "textarea")
    for link in {link.attributes["href"] for link in whole.all("a") if link.attributes["href"].startswith("/")} - followed:
        assert harmed.get(link).status_code == 200, link
        followed.add(link)


def test_links_out_are_to_the_web_only(harmed: TestClient) -> None:
    out = [link.attributes["href"] for link in page(harmed, "/?q=graph").all("a", kind="out")]
    assert out == ["https://example.org/a?b=1&c=%3Cd%3E"]


@pytest.mark.parametrize("form", ["bibtex", "ris", "csl-json", "markdown"])
def test_ticked_papers_are_exported(client: TestClient, index: sr.Index, form: str) -> None:
    chosen = ["p0007", "p0002", "p0011"]
    by_address = client.get("/export", params={"format": form, "id": [*chosen, "nosuch", "p0007"]})
    by_body = client.post("/export", data={"format": form, "id": chosen})
    hits = [sr.Hit(rank, 0.0, paper, {}) for rank, paper in enumerate(index.papers(chosen), 1)]
    assert by_address.text == by_body.text == "".join(f"{line}\n" for line in outputs.FORMATS[form](hits))
    assert by_address.headers["content-disposition"].startswith('attachment; filename="papers.')
    if form == "csl-json":
        assert len(json.loads(by_body.text)) == 3


def test_an_export_of_nothing_says_what_to_do(client: TestClient) -> None:
    assert "shelf" in page(client, "/export?format=ris", 400).one("main").text
    assert "bibtex" in page(client, "/export?format=docx&id=p0001", 400).one("main").text
    assert "none of these" in page(client, "/export?format=ris&id=nosuch", 404).one("main").text.lower()


def test_a_shelf_is_what_is_sent(client: TestClient) -> None:
    own = read(client.post("/shelf", data={"id": ["p0002", "nosuch", "p0001"]}).text)
    assert names(own) == ["p0002", "p0001"]
    assert "nosuch" in own.one("main").text
    (link,) = (link for link in own.all("a") if link.text == "Link to this list")
    shared = page(client, link.attributes["href"])
    assert names(shared) == names(own)
    assert "data-shelf-page" not in shared.one("section").attributes
    assert "up to 60" in page(client, shelf_path([f"p{number:04}" for number in range(61)]), 400).one("h1").text
    assert page(client, "/shelf").one("section").attributes["data-shelf-page"] == "0"


def test_news_are_the_papers_that_match(client: TestClient, index: sr.Index) -> None:
    value = client.get("/news?q=graph+networks&year=2000-2010").json()
    run = index.search("graph networks", 60, since=2000, until=2010)
    assert value["seen"] == list(run[0].ids)
    assert value["first"]
    assert [name for name in value["seen"] if name in set(value["first"])] == value["first"]
    assert client.get("/news").status_code == 400


def test_suggestions_for_the_box_and_for_browsers(client: TestClient) -> None:
    value = client.get("/suggest?q=lovel").json()
    assert value["authors"][0]["title"] == "Ada Lovelace"
    assert names(page(client, value["authors"][0]["address"]))
    typed, titles, about, addresses = client.get("/suggest?q=lovel&format=opensearch").json()
    assert typed == "lovel"
    assert len(titles) == len(about) == len(addresses) > 0
    assert addresses[0].startswith("http://testserver/")
    papers = client.get("/suggest?q=graph").json()["papers"]
    assert all("graph" in paper["title"] for paper in papers)
    assert page(client, papers[0]["address"]).one("h1").text == papers[0]["title"]
    assert client.get("/suggest?q=").json() == {"papers": [], "authors": []}


def test_browsers_can_add_it(client: TestClient) -> None:
    (link,) = page(client, "/").all("link", rel="search")
    described = ElementTree.fromstring(client.get(link.attributes["href"]).text)
    space = {"os": "http://a9.com/-/spec/opensearch/1.1/"}
    name = described.findtext("os:ShortName", namespaces=space)
    assert name is not None
    assert 0 < len(name) <= 16
    addresses = {url.attrib["type"]: url.attrib["template"] for url in described.findall("os:Url", space)}
    assert addresses["text/html"] == "http://testserver/?q={searchTerms}"
    assert page(client, addresses["text/html"].replace("http://testserver", "").replace("{searchTerms}", "graph"))
    assert "opensearch" in addresses["application/x-suggestions+json"]


def test_files_are_kept_until_they_change(client: TestClient) -> None:
    start = page(client, "/")
    addresses = [link.attributes["href"] for link in start.all("link", rel="stylesheet")] + [start.one("script").attributes["src"]]
    for address in addresses:
        response = client.get(address)
        assert "immutable" in response.headers["cache-control"]
        again = client.get(address, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        old = client.get(address.replace(address.split("/")[2], "0"))
        assert (old.status_code, old.headers["cache-control"]) == (200, "no-cache")
    assert client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
    assert "Disallow" in client.get("/robots.txt").text
    for address in ("/static/1/nosuch.css", "/static/1/..%2Frendering.py"):
        assert client.get(address).status_code == 404


def test_modules_that_a_page_loads_are_there(client: TestClient) -> None:
    script = page(client, "/").one("script").attributes["src"]
    asked, seen = [script], set[str]()
    while asked:
        address = asked.pop()
        seen.add(address)
        response = client.get(address)
        assert response.status_code == 200
        assert "javascript" in response.headers["content-type"]
        for line in response.text.splitlines():
            modules = re.findall(r'"\./(\w+\.js)"', line) if line.startswith("import ") else []
            if line.startswith("for (const name of ["):  # those that are imported when all else has run
                modules = [f"{name}.js" for name in re.findall(r'"(\w+)"', line)]
            asked += [module for name in modules if (module := f"{address.rpartition('/')[0]}/{name}") not in seen]
    assert len(seen) > 5


def test_a_cookie_chooses_the_colours(client: TestClient) -> None:
    def theme(value: str) -> str | None:
        return read(client.get("/", headers={"Cookie": f"theme={value}"}).text).one("html").attributes.get("data-theme")

    assert theme("dark") == "dark"
    assert theme("x") is theme('"><script>') is None


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/?q=graph&filter=year+%3E", 400, "filter cannot be read"),
        ("/?q=graph&year=recently", 400, "not a range of years"),
        ("/?q=graph&sort=title", 400, "nknown sort"),
        ("/?q=graph&page=0", 400, "no page"),
        ("/?q=graph&page=4", 404, "beyond the first 60"),
        ("/?q=graph&like=nosuch", 404, "nosuch"),
        ("/?q=graph&index=nosuch", 400, "nosuch"),
        ("/map?q=graph&year=x", 400, "not a range of years"),
        (f"/?q={'x' * 501}", 400, "the limit is 500"),
        ("/paper/nosuch", 404, "nosuch"),
        ("/nowhere", 404, "nothing at this address"),
    ],
)
def test_failures_are_pages_for_browsers_and_json_for_programs(client: TestClient, address: str, status: int, words: str) -> None:
    whole = page(client, address, status)
    assert words in whole.one("h1").text
    if "q=graph" in address:
        assert whole.one("input", name="q").attributes["value"] == "graph"
    for path, headers in (("/v1/papers/nosuch", BROWSER), ("/nowhere", {"Accept": "*/*"})):
        assert set(client.get(path, headers=headers).json()) == {"error", "message", "hint"}


def test_several_indexes_are_searched_as_one_or_by_name(index: sr.Index, hostile: sr.Index) -> None:
    with client_of(index.path, hostile.path, headers=BROWSER) as client:
        first, second = index.names[0], hostile.names[0]
        every = page(client, "/?q=graph+networks")
        assert [option.attributes["value"] for option in every.one("select", name="index").all("option")] == ["", first, second]
        assert {name.partition(":")[0] for name in names(every)} <= {first, second}
        chosen = page(client, f"/?q=graph+networks&index={second}")
        assert all(name.startswith(f"{second}:") for name in names(chosen))
        assert {where.text for where in chosen.all(kind="where")} == {second}
        for hit in (every, chosen):
            paper = page(client, hit.all("a", kind="title")[0].attributes["href"])
            assert paper.one("article").attributes["data-name"] == names(hit)[0]
            more = page(client, hit.all("a", kind="more")[0].attributes["href"])
            assert names(hit)[0] not in names(more)
        both = client.post("/export", data={"format": "ris", "id": [f"{first}:p0001", names(chosen)[0]]})
        assert both.text.count("ER  -") == 2
        news = client.get(f"/news?q=graph+networks&index={second}").json()
        assert all(name.startswith(f"{second}:") for name in news["seen"])


def test_newest_first_and_papers_like_some(client: TestClient, index: sr.Index) -> None:
    expected = [hit.id for hit in sr.answer(index, sr.Request("graph", k=60, sort="year")).hits]
    newest = page(client, "/?q=graph&sort=year")
    assert names(newest) == expected[:20]
    assert names(page(client, newest.one("a", rel="next").attributes["href"])) == expected[20:40]
    like = page(client, "/?like=p0003&like=p0005&unlike=p0001")
    assert names(like) == [hit.id for hit in sr.answer(index, sr.Request(None, ["p0003", "p0005"], ["p0001"], k=20)).hits]

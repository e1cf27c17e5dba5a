"""Pages that scripts fill are told from short pages."""

from __future__ import annotations

import pytest

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reports.explain import explain
from focuscrawl.spiders.best_first import BestFirstSpider
from focuscrawl.store.places import read_crawl
from focuscrawl.web.webs import MemoryWeb

BUNDLE = '<script src="/static/js/main.3f2a.js"></script>'


def read(html: str) -> Page:
    return read_html(Page("http://a.example/"), html.encode(), "text/html; charset=utf-8")


SHELLS = {
    "create-react-app": f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Gardens of the world</title>
        <script defer src="/static/js/main.js"></script></head><body>
        <noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>{BUNDLE}</body></html>""",
    "vite": '<title>x</title><body><div id="app"></div><script type="module" src="/assets/index.js"></script>',
    "next": f'<title>x</title><body><div id="__next"><div class="spinner">Loading…</div></div>{BUNDLE}',
    "nuxt": f'<body><div id="__nuxt"><!-- --></div><script>window.__NUXT__={{}}</script>{BUNDLE}',
    "angular": f"<title>x</title><body><app-root></app-root>{BUNDLE}",
    "ionic": f"<title>x</title><body><ion-app></ion-app>{BUNDLE}",
    "a menu and a footer around it": f"""<body><nav><a href=/>Home</a> <a href=/about>About</a></nav>
        <div id=root></div><footer>© 2026 The Company. <a href=/imprint>Imprint</a></footer>{BUNDLE}""",
    "a counter in noscript": f"""<body><noscript><iframe src="https://count.example/ns.html" height="0" width="0"></iframe>
        </noscript><div id=app></div>{BUNDLE}""",
    "only a notice": f"<title>Gardens</title><body>{BUNDLE}<noscript>Please enable JavaScript to view this page.</noscript>",
    "a notice that is shown": f"<body><p>This site requires JavaScript. Please turn it on.</p>{BUNDLE}",
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_page_that_scripts_fill_is_a_shell(name):
    page = read(SHELLS[name])
    assert page.shell
    assert page.problem == f"empty shell: {page.shell}"


def test_the_reason_names_the_place_or_quotes_the_notice():
    assert read(SHELLS["vite"]).shell == "<div id=app> is left to scripts"
    assert read(SHELLS["angular"]).shell == "<app-root> is left to scripts"
    assert read(SHELLS["only a notice"]).shell == 'it says "Please enable JavaScript to view this page."'


@pytest.mark.parametrize(
    "notice",
    [
        "Sie müssen JavaScript aktivieren, um diese Anwendung auszuführen.",
        "Vous devez activer JavaScript pour afficher cette page.",
        "Necesitas habilitar JavaScript para ejecutar esta aplicación.",
        "Per utilizzare questo sito è necessario attivare JavaScript.",
        "Você precisa ativar o JavaScript para executar este aplicativo.",
        "Schakel JavaScript in om deze pagina te bekijken. JavaScript is vereist.",
        "Aby korzystać z tej strony, włącz JavaScript.",
        "Для работы сайта необходимо включить JavaScript.",
        "Для роботи сайту увімкніть JavaScript.",
        "Bu siteyi kullanmak için JavaScript etkinleştirilmelidir.",
        "このアプリを使うには JavaScript を有効にしてください。",
        "您需要启用 JavaScript 才能运行此应用程序。",
        "您需要啟用 JavaScript 才能執行此應用程式。",
        "이 앱을 실행하려면 자바스크립트를 활성화해야 합니다.",
        "يجب تفعيل جافا سكريبت لعرض هذه الصفحة.",
        "יש להפעיל JavaScript כדי להציג דף זה. הפעלת JavaScript נדרשת.",
        "इस पृष्ठ को देखने के लिए जावास्क्रिप्ट सक्षम करें।",
        "กรุณาเปิดใช้งาน JavaScript",
        "Για να δείτε τη σελίδα, ενεργοποιήστε τη JavaScript.",
        "Vui lòng bật JavaScript để xem trang này.",
    ],
)
def test_a_notice_is_understood_in_many_languages(notice):
    assert read(f"<title>x</title><body><noscript>{notice}</noscript>{BUNDLE}").shell
    assert read(f"<title>x</title><body><p>{notice}</p>{BUNDLE}").shell


REAL = {
    "a short text": f"<title>Thanks</title><body><h1>Thank you</h1><p>Your message was sent.</p>{BUNDLE}",
    "an empty page": "<title>Nothing</title><body>",
    "a page without scripts": "<body><div id=root></div><noscript>Enable JavaScript</noscript>",
    "scripts that count visitors": f"<title>A poem</title><body><p>Roses are red.</p>{BUNDLE}{BUNDLE}",
    "a full root": f"<body><div id=root><p>{'Roses need sun and water. ' * 10}</p></div>{BUNDLE}",
    "a root with links": f"<body><div id=app><a href=/1>One</a></div>{BUNDLE}",
    "text beside the root": f"<body><div id=root></div><p>{'Roses need sun and water. ' * 30}</p>{BUNDLE}",
    "many links": f"<body><div id=root></div>{''.join(f'<a href=/{n}>{n}</a>' for n in range(20))}{BUNDLE}",
    "frames": f'<frameset cols="20%,80%"><frame src=/menu><frame src=/text></frameset>{BUNDLE}',
    "a frame": f"<body><iframe src=/app></iframe>{BUNDLE}<noscript>Enable JavaScript</noscript>",
    "a redirect": f'<meta http-equiv=refresh content="0; url=/new"><body><div id=root></div>{BUNDLE}',
    "a form": f"<body><form><input name=user><input type=password></form><noscript>JavaScript!</noscript>{BUNDLE}",
    "pictures": f"<body>{'<img src=/1.jpg>' * 5}<noscript>Enable JavaScript</noscript>{BUNDLE}",
    "text and a notice": f"""<title>Roses</title><body><p>Roses need sun, water and a gardener who comes by every day of
        the summer.</p><noscript>Some features need JavaScript.</noscript>{BUNDLE}""",
    "the text again in noscript": f"<body><div id=root></div><noscript>{'Roses need sun. ' * 40}</noscript>{BUNDLE}",
    "a page about JavaScript": f"<title>JavaScript</title><body><h1>JavaScript</h1><p>A language for pages.</p>{BUNDLE}",
}


@pytest.mark.parametrize("name", REAL)
def test_a_short_page_is_no_shell(name):
    page = read(REAL[name])
    assert page.shell is None
    assert page.problem is None


def test_a_page_with_text_is_not_looked_at_twice(monkeypatch):
    """Ordinary pages cost nothing: they are told by their length."""
    monkeypatch.setattr("focuscrawl.reading.shells._Survey", None)
    assert read(f"<body><div id=root></div><p>{'Roses need sun and water. ' * 100}</p>{BUNDLE}").shell is None


def test_a_shell_is_unread_and_not_irrelevant(crawl):
    """Its title does not make it match, it has no relevance, and nothing is learned from it."""
    learned = []

    class Watching(BestFirstSpider):
        def learn(self, page, via):
            learned.append(page.url)

    web = MemoryWeb()
    web.add("http://a.example/", "<title>Gardens</title><p>gardens <a href=/app>gardens</a> <a href=/text>gardens</a>")
    web.add("http://a.example/app", SHELLS["create-react-app"].replace("Gardens of the world", "Gardens gardens"))
    web.add("http://a.example/text", "<title>Gardens</title><p>all about gardens")
    crawled = crawl(Watching, web, seeds="http://a.example/", keywords="gardens")
    pages = {page["url"]: page for page in crawled.pages}
    assert pages["http://a.example/app"]["relevance"] is None
    assert pages["http://a.example/text"]["relevance"] > 0
    assert crawled.matched == ["http://a.example/", "http://a.example/text"]
    assert crawled.sql("SELECT relevant, problem FROM page WHERE url LIKE '%app'") == [
        (None, "empty shell: <div id=root> is left to scripts")
    ]
    assert learned == ["http://a.example/text"]


def test_report_and_explain_say_what_to_do(crawl):
    web = MemoryWeb()
    web.add("http://a.example/", "<title>Gardens</title><p>gardens <a href=/app>gardens</a>")
    web.add("http://a.example/app", SHELLS["vite"])
    crawled = crawl("best_first", web, seeds="http://a.example/", keywords="gardens")
    with read_crawl(crawled.folder) as store:
        told = "\n".join(explain(store, "http://a.example/app"))
    assert "empty shell: <div id=app> is left to scripts" in told
    assert "pip install 'focuscrawl[browser]', then -s FOCUS_BROWSER=shells" in told
    report = (crawled.folder / "report.html").read_text("utf-8")
    assert "1 page is an empty shell that scripts fill." in report
    assert "FOCUS_BROWSER=shells" in report


def test_a_crawl_of_nothing_but_shells_says_so(crawl):
    web = MemoryWeb()
    web.add("http://a.example/", SHELLS["vite"])
    crawled = crawl("best_first", web, seeds="http://a.example/", keywords="gardens")
    problem = Crawl.of(crawled.crawler).problem
    assert problem.startswith("no page could be read: http://a.example/: empty shell: <div id=app>")
    assert problem.endswith("-s FOCUS_BROWSER=shells")


@pytest.mark.parametrize(
    "name",
    [
        *("breadth_first", "keyword", "best_first", "hits", "pagerank", "fish_search", "shark_search", "info_spiders"),
        *("perimeter", "intelligent", "link_semantics"),  # niche_genetic does not leave the seed of so small a web
    ],
)
def test_every_strategy_takes_a_page_without_judgement(crawl, name):
    web = MemoryWeb()
    web.add("http://a.example/", "<title>Gardens</title><p>gardens <a href=/app>gardens</a> <a href=/b>gardens</a>")
    web.add("http://a.example/app", f"<title>Gardens</title><a href=/c>gardens</a><div id=app></div>{BUNDLE}")
    web.add("http://a.example/b", "<title>Gardens</title><p>gardens and roses")
    web.add("http://a.example/c", "<title>Gardens</title><p>gardens and lilies")
    crawled = crawl(name, web, seeds="http://a.example/", keywords="gardens", max_pages=4)
    assert "http://a.example/app" in crawled.urls
    assert "spider_exceptions/count" not in crawled.stats

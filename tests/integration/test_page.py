"""The page in a real browser: a person logs in and annotates by keyboard, and the loop learns it."""

import struct

import pytest
from integration.annotators import Annotators, question
from integration.browser import CONTROL, ENTER, ESCAPE, TAB, Browser
from tiny import TINY

from annotation.keys import KEY, URL
from annotation.project import ensure_project
from annotation.push import push
from annotation.store import TaskStore
from toolkit.annotators.questions import ShownCandidate
from toolkit.config import load_config
from toolkit.equations import show
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run
from toolkit.loop.state import RunState

SETTINGS = (*TINY, "annotator.name=label-studio", "known=0", "active.batch=3", "stop.rounds=1")
PICKED = "return [...document.querySelectorAll('.warmkit input[type=radio]')].filter(e => e.checked).length"
SHOWN = "return document.querySelector('.warmkit')?.innerText"
WRITING = "return document.activeElement.name === 'equation'"


class Desk:
    """A person at the browser, in one project."""

    def __init__(self, browser, label_studio, url):
        self.browser = browser
        browser.go(f"{label_studio.url}/user/login/")
        browser.type("input[name=email]", label_studio.user)
        browser.type("input[name=password]", label_studio.password + ENTER)
        browser.wait("return !location.pathname.includes('login')")
        browser.go(f"{url}/data?labeling=1")
        browser.wait("return document.body.innerText.includes('Which equation does the problem ask for?')")

    def read_instructions(self):
        self.browser.press_until(
            ESCAPE, "return !document.body.innerText.includes('Which equation does the')"
        )

    def number(self):
        """The id of the task on the page, once it is drawn."""
        self.browser.wait(SHOWN)
        return int(self.browser.wait(r"return document.body.innerText.match(/\n(\d+)\s+\d+ of \d+\n/)?.[1]"))

    def pick(self, key):
        assert self.browser.run(PICKED) == 0  # nothing is picked beforehand
        self.browser.press_until(key, PICKED)

    def write(self, equation):
        self.pick("o")
        while not self.browser.run(WRITING):
            self.browser.press(TAB)
        for key in equation:
            self.browser.press(key)
        self.browser.press(ENTER)

    def submit(self):
        before = self.browser.run(SHOWN)
        self.browser.press(CONTROL + ENTER)
        self.browser.wait("return document.querySelector('.warmkit')?.innerText !== arguments[0]", before)


@pytest.fixture
def browser(tmp_path):
    with Browser(tmp_path / "profile") as browser:
        yield browser


def test_three_problems_are_annotated_by_keyboard_and_the_loop_learns_them(
    browser, label_studio, monkeypatch, tmp_path
):
    monkeypatch.setenv(URL, label_studio.url)
    monkeypatch.setenv(KEY, label_studio.key)
    run = create_run(tmp_path, "a", load_config(LoopConfig, None, SETTINGS))
    gold = dict(run.problems.table.select("id", "equation").iter_rows())
    annotator = annotator_of(run)
    annotators = Annotators(label_studio.client, annotator.store.project)
    did = {}

    def work(seconds):
        if did:
            return
        desk = Desk(browser, label_studio, annotator.location)
        desk.read_instructions()
        tasks = annotators.tasks()
        for position in range(3):
            data = tasks[desk.number()]
            name, template = data["problem_id"], data["candidates"][0]["alias"]
            assert data["candidates"][0]["value"] in browser.text()
            assert data["problem"] in browser.text() and data["facts"].split("  ·  ")[0] in browser.text()
            if position == 0:
                desk.pick("b")
                browser.press("n")
                did["bad"] = name
            elif position == 1:
                desk.write(gold[name])
                did["own"] = name
            else:
                desk.pick("1")
                did["candidate"] = name, template
            browser.picture(tmp_path / f"{position}.png")
            desk.submit()

    with annotator.client:
        Loop(run, annotator, sleep=work).rounds()
    resolutions, known = RunState(run).resolutions(), RunState(run).known(2)
    assert "not solvable" in resolutions[did["bad"]].reason
    assert (resolutions[did["bad"]].verdict, did["bad"] in known) == ("disputed", False)
    assert {name: show(template) for name, template in known.items()} == {
        did["own"]: show(run.problems.gold_templates[did["own"]]),
        did["candidate"][0]: did["candidate"][1],
    }
    assert [one.template for one in run.ledger.responses() if one.template] == [did["candidate"][1]]
    assert all(one.seconds and one.annotator == label_studio.user for one in run.ledger.responses())


def test_the_complaint_is_shown_and_markup_and_formulas_stay_text(browser, label_studio, tmp_path):
    store = TaskStore(tmp_path / "store")
    project = ensure_project(label_studio.client, store, "inert")
    text = "<script>document.title = 'broken'</script> <b>76</b> and 25 =HYPERLINK(1) ${76}"
    asked = question(
        "a",
        text=text,
        candidates=(
            ShownCandidate("76 - 25", "N0 - N1"),
            ShownCandidate("<img src=x onerror=alert(1)>", "N0 - N1 + 0"),
        ),
        attempt=1,
        complaint="It gives 7.",
    )
    push(label_studio.client, store, [asked])
    desk = Desk(browser, label_studio, project.url)
    desk.read_instructions()
    shown = browser.wait(SHOWN)
    assert "could not be used: It gives 7." in shown
    assert text in shown and "<img src=x onerror=alert(1)>" in shown
    assert browser.run("return document.title") != "broken"
    assert browser.run("return document.querySelectorAll('.warmkit script, .warmkit img').length") == 0
    picture = tmp_path / "page.png"
    browser.picture(picture)
    assert struct.unpack(">II", picture.read_bytes()[16:24])[0] == 1400


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("hi", "नेहा के पास 76 किताबें थीं। उसने 25 दे दीं।", ("उत्तर: 51", "मेरा अपना समीकरण", "सवाल में गड़बड़ है")),
        ("zh", "小明有76本书，送出25本，还剩多少本？", ("答案: 51", "我自己写的算式", "题目有问题")),
    ],
)
def test_the_page_speaks_the_language_of_the_problem(browser, label_studio, tmp_path, lang, text, words):
    store = TaskStore(tmp_path / "store")
    project = ensure_project(label_studio.client, store, lang)
    push(label_studio.client, store, [question("a", text=text, lang=lang, candidates=())])
    Desk(browser, label_studio, project.url).read_instructions()
    shown = browser.wait(SHOWN)
    assert text in shown and all(word in shown for word in words)

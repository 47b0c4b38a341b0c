"""The Python snippets of README and docs, run in order; a comment below an expression is its value."""

import contextlib
import io

import pytest
from docs.pages import PAGES, blocks, statements


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run_and_come_to_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language != "python":
            continue
        for statement in statements(block):
            position = f"{page.name}, line {statement.line}"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                if statement.is_expression:
                    value = eval(compile(statement.code, position, "eval"), names)
                    shown = printed.getvalue().rstrip() or repr(value)
                else:
                    exec(compile(statement.code, position, "exec"), names)
                    shown = printed.getvalue().rstrip()
            if statement.expected is not None and (statement.is_expression or shown):
                assert shown == statement.expected, position


def test_there_are_snippets_to_run():
    found = [block for page in PAGES for block in blocks(page) if block.language == "python"]
    assert len(found) > 10

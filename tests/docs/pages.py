"""README.md and docs/*.md as what is in them: Python snippets, and commands with what they print."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int  # of its first line
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    page: Path
    line: int
    words: tuple[str, ...]
    output: tuple[str, ...]  # what the page says that it prints

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line} {shlex.join(self.words)[:60]}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start(2)) + 1, found[1], found[2])
        for found in _BLOCK.finditer(text)
    ]


def commands(page: Path) -> Iterator[Command]:
    """Every `$ …` of the console blocks, with the lines that follow it."""
    for block in blocks(page):
        if block.language != "console":
            continue
        lines = block.text.splitlines()
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        for i, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            words = tuple(shlex.split(lines[i][2:], comments=True))
            yield Command(page, block.line + i, words, tuple(lines[i + 1 : end]))


@dataclass(frozen=True)
class Statement:
    """A statement of a snippet, and what the comment behind or below it says of its value."""

    code: str
    line: int
    is_expression: bool
    expected: str | None


def statements(block: Block) -> Iterator[Statement]:
    lines = block.text.splitlines()
    for node in ast.parse(block.text).body:
        end = node.end_lineno or node.lineno
        code = "\n".join(lines[node.lineno - 1 : end])
        is_expression = isinstance(node, ast.Expr)
        expected: list[str] = []
        behind = lines[end - 1][node.end_col_offset or 0 :].strip() if is_expression else ""
        if behind.startswith("# "):
            expected = [behind[2:]]
        else:
            for comment in lines[end:]:
                if not comment.startswith("# "):
                    break
                expected.append(comment[2:])
        yield Statement(code, block.line + node.lineno - 1, is_expression, "\n".join(expected) or None)

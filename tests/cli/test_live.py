import io

from rich.console import Console

from toolkit.cli.live import LiveView


def drawn(view: LiveView) -> list[str]:
    screen = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    screen.print(view.live.renderable)
    return screen.file.getvalue().splitlines()


def test_the_panel_has_one_line_for_each_figure(monkeypatch):
    view = LiveView("run a", rounds=2, interactive=False)
    view.screen = view.live.console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with view:
        view.stage(1, "train")
        view.figures(known=3, labels=4, reached=0.9, confidence=None)
        view.progress(1, 2)
        view.say("Waiting for 2 of 4 answers")
        lines = drawn(view)
    assert len({len(line) for line in lines}) == 1
    assert "round 1  train" in lines[1]
    assert "━" in lines[2] and "known" not in lines[2]
    assert [line.split()[-2] for line in lines[3:6]] == ["3", "4", "%"]
    assert not any("confidence" in line for line in lines)
    assert "Waiting for 2 of 4 answers" in lines[-2]


def test_in_a_pipe_there_are_plain_lines(capsys):
    with LiveView("run a", rounds=None, interactive=False) as view:
        view.stage(1, "train")
        view.say("Waiting")
        view.say("Waiting")
    assert capsys.readouterr().err == "round 1: train\nWaiting\n"

from commands import kills

from annotation.keys import KEY


def test_a_run_in_label_studio_that_is_killed_ends_as_one_that_is_not(label_studio):
    found = kills(
        *("--count", "2", "--with", "label-studio", "--seed", "1", "--server", label_studio.url),
        **{KEY: label_studio.key},
    )
    assert found["all"] == 2

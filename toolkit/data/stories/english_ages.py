"""English stories of ages, averages, machines and bare numbers."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import about, people, person

KINDS = Kinds()


def _about_family(draw: Draw) -> list[str]:
    return [
        draw.choose(
            f"The family lives in house number {draw.digits(draw.rng.randint(101, 260))}.",
            f"The family has {draw.whole(2, 9)} pets.",
            f"They have lived in the town for {draw.whole(2, 30)} years.",
        ),
        draw.choose(
            f"The birthday cake weighs {draw.whole(2, 5)} kg.", f"{draw.whole(6, 30)} guests are invited."
        ),
    ]


@KINDS("ages.older_or_younger", steps=1)
def older_or_younger(draw: Draw) -> Draft:
    who, friend = people(draw)
    age, gap = draw.falling(largest=60)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} is {age} years old. {friend} is {gap} years younger. How old is {friend}?",
                f"{who} is {gap} years older than {friend}. {who} is {age}. How old is {friend}?",
                f"How old was {who} {gap} years ago if {who.he} is {age} now?",
                f"In {gap} years {who} will be {age}. How old is {who} now?",
            ],
            age - gap,
            _about_family(draw),
        )
    return draw.tell(
        [
            f"{who} is {age} years old. {friend} is {gap} years older. How old is {friend}?",
            f"{who} is {gap} years younger than {friend}. {who} is {age}. How old is {friend}?",
            f"How old will {who} be in {gap} years if {who.he} is {age} now?",
            f"{gap} years ago {who} was {age}. How old is {who} now?",
        ],
        age + gap,
        _about_family(draw),
    )


@KINDS("ages.two_changes", steps=2)
def two_changes(draw: Draw) -> Draft:
    who, friend = people(draw)
    age, gap, later = draw.falling(3, largest=60)
    draw.need(age.value > gap.value + later.value)
    return draw.choose(
        draw.tell(
            [
                f"{who} is {age} years old. {friend} is {gap} years younger. "
                f"How old will {friend} be in {later} years?",
                f"In {later} years, how old will {friend} be if {who} is {age} and {friend} is {gap} years "
                f"younger?",
            ],
            age - gap + later,
            _about_family(draw),
        ),
        draw.tell(
            [
                f"{who} is {age} years old. {friend} is {gap} years older. "
                f"How old was {friend} {later} years ago?",
                f"{who} is {gap} years younger than {friend}. {who} is {age}. "
                f"How old was {friend} {later} years ago?",
            ],
            age + gap - later,
            _about_family(draw),
        ),
        draw.tell(
            [
                f"{who} is {age} years old. {friend} is {gap} years younger. "
                f"How old was {friend} {later} years ago?",
                f"{friend} is {gap} years younger than {who}, who is {age}. "
                f"How old was {friend} {later} years ago?",
            ],
            age - gap - later,
            _about_family(draw),
        ),
    )


@KINDS("ages.times_as_old", steps=2)
def times_as_old(draw: Draw) -> Draft:
    who = person(draw)
    age, k, years = draw.whole(5, 14), draw.whole(3, 5), draw.whole(2, 9)
    parent = draw.choose("mother", "father", "aunt", "uncle")
    draw.need(age.value * k.value > 21 + years.value)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} is {age} years old. {who.His} {parent} is {k} times as old. "
                f"How old will the {parent} be in {years} years?",
                f"How old will {who}'s {parent} be in {years} years, being {k} times as old as {who} now, "
                f"who is {age}?",
            ],
            k * age + years,
            _about_family(draw),
        )
    return draw.tell(
        [
            f"{who} is {age} years old. {who.His} {parent} is {k} times as old. "
            f"How old was the {parent} {years} years ago?",
            f"How old was {who}'s {parent} {years} years ago, being {k} times as old as {who} now, "
            f"who is {age}?",
        ],
        k * age - years,
        _about_family(draw),
    )


@KINDS("average.of_three", steps=3)
def average_of_three(draw: Draw) -> Draft:
    who = person(draw)
    a, b, c = (draw.rng.randint(8, 95) for _ in range(3))
    draw.need((a + b + c) % 3 == 0)
    x, y, z, n = draw.digits(a), draw.digits(b), draw.digits(c), draw.say(3)
    return draw.tell(
        [
            f"{who} read {x}, {y} and {z} pages on {n} days. How many pages a day is that on average?",
            f"In {n} tests {who} got {x}, {y} and {z} points. What is {who.his} average?",
            f"What is the mean of the {n} numbers {x}, {y} and {z}?",
            f"{who} picked {x} kg of tea on Monday, {y} kg on Tuesday and {z} kg on Wednesday. "
            f"What is the average over these {n} days?",
        ],
        (x + y + z) / n,
        about(draw, who),
    )


@KINDS("average.of_four", steps=4)
def average_of_four(draw: Draw) -> Draft:
    who = person(draw)
    a, b, c, d = (draw.rng.randint(8, 95) for _ in range(4))
    draw.need((a + b + c + d) % 4 == 0)
    w, x, y, z, n = draw.digits(a), draw.digits(b), draw.digits(c), draw.digits(d), draw.say(4)
    return draw.tell(
        [
            f"{who} ran {w}, {x}, {y} and {z} minutes on {n} days. "
            f"How many minutes a day is that on average?",
            f"In {n} matches {who}'s team got {w}, {x}, {y} and {z} points. What is the average?",
            f"A shop sold {w}, {x}, {y} and {z} loaves in {n} hours. "
            f"How many loaves an hour is that on average?",
            f"The boxes weigh {w} kg, {x} kg, {y} kg and {z} kg. What is the mean weight of the {n} boxes?",
        ],
        (w + x + y + z) / n,
        about(draw, who),
    )


@KINDS("average.missing_one", steps=2)
def missing_one(draw: Draw) -> Draft:
    who = person(draw)
    n, mean, known = draw.whole(3, 9), draw.whole(20, 90), draw.whole(50, 400)
    total = n.value * mean.value
    draw.need(5 < total - known.value < 100)
    return draw.tell(
        [
            f"{who} took {n} tests with an average of {mean} points. "
            f"All tests but the last gave {known} points "
            f"together. How many points did {who} get in the last test?",
            f"Without the red box, the boxes on a truck weigh {known} kg in all. There are {n} boxes, "
            f"and their mean weight is "
            f"{mean} kg. How heavy is the red box?",
            f"The mean of {n} numbers is {mean}. The sum of all but the last is {known}. "
            f"What is the last number?",
        ],
        n * mean - known,
        about(draw, who),
    )


@KINDS("average.total", steps=1)
def average_total(draw: Draw) -> Draft:
    who = person(draw)
    n, mean = draw.whole(3, 30), draw.whole(8, 90)
    return draw.tell(
        [
            f"In {n} tests {who} got {mean} points on average. How many points is that in all?",
            f"{who} ran {mean} minutes a day on average. How many minutes did {who.he} run in {n} days?",
            f"The mean of {n} numbers is {mean}. What is their sum?",
        ],
        n * mean,
        about(draw, who),
    )


@KINDS("numbers.one_step", steps=1)
def bare_one_step(draw: Draw) -> Draft:
    a, b = draw.falling()
    return draw.choose(
        draw.tell(
            [f"What number is {b} more than {a}?", f"{b} less than a number is {a}. What is the number?"],
            a + b,
        ),
        draw.tell(
            [f"What number is {b} less than {a}?", f"What do you get when you take {b} away from {a}?"], a - b
        ),
        draw.tell(
            [f"{b} more than a number is {a}. What is the number?", f"By how much is {a} larger than {b}?"],
            a - b,
        ),
    )


@KINDS("numbers.backwards", steps=2)
def bare_backwards(draw: Draw) -> Draft:
    who = person(draw)
    x, k, c = draw.rng.randint(4, 60), draw.rng.randint(3, 12), draw.rng.randint(2, 60)
    more, less, times, change = draw.say(x * k + c), draw.say(abs(x * k - c)), draw.say(k), draw.say(c)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"{who} thinks of a number, multiplies it by {times} and adds {change}. "
                f"The result is {more}. "
                f"What is the number?",
                f"If a number is multiplied by {times} and {change} is added, the result is {more}. "
                f"What is it?",
                f"{change} more than {times} times a number is {more}. What is the number?",
            ],
            (more - change) / times,
        )
    draw.need(x * k - c > 1)
    return draw.tell(
        [
            f"{who} thinks of a number, multiplies it by {times} and subtracts {change}. "
            f"The result is {less}. "
            f"What is the number?",
            f"If a number is multiplied by {times} and {change} is taken away, the result is {less}. "
            f"What is it?",
            f"{change} less than {times} times a number is {less}. What is the number?",
        ],
        (less + change) / times,
    )


@KINDS("work.machines", steps=3)
def machines(draw: Draw) -> Draft:
    who, what = person(draw), draw.choose("bottles", "shirts", "bricks", "toys", "bolts")
    a, b = draw.whole(12, 90), draw.whole(12, 90)
    hours, done = draw.whole(3, 12), draw.whole(15, 400)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"A machine makes {a} {what} an hour, and another makes {b}. "
                f"{done} {what} are ready already. "
                f"How many {what} will there be after {hours} hours with both machines?",
                f"For {hours} hours both machines run. The old machine makes {b} {what} an hour and the new "
                f"machine {a}. How many {what} are there in the end if {done} were in stock?",
            ],
            (a + b) * hours + done,
            about(draw, who),
        )
    draw.need((a.value + b.value) * hours.value > done.value)
    return draw.tell(
        [
            f"A machine makes {a} {what} an hour, and another makes {b}. "
            f"After {hours} hours with both machines, "
            f"{done} {what} are found to be faulty. How many {what} are good?",
            f"Both machines run for {hours} hours. {who} sells {done} of the {what}. "
            f"The old machine makes {b} an "
            f"hour and the new machine {a}. How many {what} are left?",
        ],
        (a + b) * hours - done,
        about(draw, who),
    )

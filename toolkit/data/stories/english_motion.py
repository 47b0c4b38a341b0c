"""English stories of speeds and temperatures."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import person

KINDS = Kinds()


def _about_trip(draw: Draw, what: str) -> list[str]:
    return [
        draw.choose(
            f"The {what} is {draw.whole(2, 15)} years old.",
            f"The {what} weighs {draw.decimal(1, 9, 10)} tonnes.",
        ),
        draw.choose(
            f"The driver is {draw.whole(21, 64)} years old.", f"It is {draw.whole(12, 30)} °C outside."
        ),
    ]


VEHICLES = ("bus", "lorry", "car", "van", "coach", "motorcycle")


@KINDS("motion.distance", steps=1)
def distance(draw: Draw) -> Draft:
    what, speed = draw.choose(*VEHICLES), draw.whole(30, 120)
    hours = draw.choose(draw.whole(2, 14), draw.decimal(1, 6))
    return draw.tell(
        [
            f"A {what} goes at {speed} km an hour. How far does it go in {hours} hours?",
            f"In {hours} hours, how many kilometres does a {what} cover at {speed} km an hour?",
            f"A {what} is on the road for {hours} hours at a speed of {speed} km/h. "
            f"How many kilometres is that?",
        ],
        speed * hours,
        _about_trip(draw, what),
    )


@KINDS("motion.time_or_speed", steps=1)
def time_or_speed(draw: Draw) -> Draft:
    what, speed, hours = draw.choose(*VEHICLES), draw.rng.randint(30, 110), draw.rng.randint(2, 12)
    far, v, t = draw.say(speed * hours), draw.say(speed), draw.say(hours)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"A {what} goes at {v} km an hour. How many hours does it need for {far} km?",
                f"The next town is {far} km away. At {v} km an hour, "
                f"in how many hours does a {what} get there?",
                f"How long does a {what} take for {far} km at a speed of {v} km/h?",
            ],
            far / v,
            _about_trip(draw, what),
        )
    return draw.tell(
        [
            f"A {what} covers {far} km in {t} hours. How many kilometres does it go in an hour?",
            f"In {t} hours a {what} reaches a town that is {far} km away. What is its speed?",
            f"What is the speed of a {what} that takes {t} hours for {far} km?",
        ],
        far / t,
        _about_trip(draw, what),
    )


@KINDS("motion.still_to_go", steps=2)
def still_to_go(draw: Draw) -> Draft:
    what, speed, hours = draw.choose(*VEHICLES), draw.whole(30, 110), draw.whole(2, 9)
    far = draw.say(int(speed.value * hours.value) + draw.rng.randint(20, 400))
    return draw.tell(
        [
            f"A {what} has to go {far} km. It goes {speed} km an hour. "
            f"How far is it from its goal after {hours} hours?",
            f"After {hours} hours at {speed} km an hour, how many of the {far} km of its trip "
            f"does a {what} still have before it?",
            f"The towns are {far} km apart. A {what} has been under way for {hours} hours at {speed} km/h. "
            f"How many kilometres are left?",
        ],
        far - hours * speed,
        _about_trip(draw, what),
    )


@KINDS("motion.meeting_or_chasing", steps=2)
def meeting_or_chasing(draw: Draw) -> Draft:
    what, other = draw.sample(VEHICLES, 2)
    fast, slow = (draw.say(n) for n in sorted(draw.sample(range(30, 110), 2), reverse=True))
    hours = draw.whole(2, 9)
    if draw.rng.random() < 0.5:
        return draw.tell(
            [
                f"A {what} and a {other} leave a town at the same time in opposite directions. "
                f"The {what} goes {fast} "
                f"km an hour, the {other} {slow}. How far apart are they after {hours} hours?",
                f"A {other} at {slow} km/h and a {what} at {fast} km/h go towards each other and meet "
                f"after {hours} "
                f"hours. How far apart were they at the start?",
            ],
            (fast + slow) * hours,
            _about_trip(draw, what),
        )
    return draw.tell(
        [
            f"A {what} and a {other} leave a town at the same time in the same direction. "
            f"The {what} goes {fast} "
            f"km an hour, the {other} {slow}. How far apart are they after {hours} hours?",
            f"A {what} at {fast} km/h follows a {other} at {slow} km/h on the same road and catches up "
            f"with it after "
            f"{hours} hours. How far apart were they at the start?",
        ],
        (fast - slow) * hours,
        _about_trip(draw, what),
    )


@KINDS("motion.two_legs", steps=3)
def two_legs(draw: Draw) -> Draft:
    who, what = person(draw), draw.choose(*VEHICLES)
    v, w, t, u = draw.whole(40, 110), draw.whole(15, 39), draw.whole(2, 7), draw.whole(2, 7)
    if draw.rng.random() < 0.6:
        return draw.tell(
            [
                f"A {what} goes {t} hours at {v} km an hour and then {u} hours at {w} km an hour. "
                f"How far does it go?",
                f"{who} goes at {w} km/h for {u} hours and at {v} km/h for {t} hours. "
                f"How many kilometres is that?",
                f"How far does {who} get with {t} hours by {what} at {v} km/h and {u} hours by bicycle at "
                f"{w} km/h?",
            ],
            t * v + u * w,
            _about_trip(draw, what)[1:],
        )
    a, b = draw.whole(60, 240), draw.whole(60, 240)
    total, hours = a.value + b.value, t.value + u.value
    draw.need(total * 2 % hours == 0)
    return draw.tell(
        [
            f"A {what} goes {a} km in {t} hours and then {b} km in {u} hours. "
            f"What is its average speed over the whole trip?",
            f"On the way there {who} took {t} hours for {a} km, and then {u} hours for {b} km. "
            f"How many kilometres an hour is that on average?",
        ],
        (a + b) / (t + u),
        _about_trip(draw, what)[1:],
    )


@KINDS("weather.change", steps=1)
def weather_change(draw: Draw) -> Draft:
    place = draw.choose("Oslo", "Shimla", "Toronto", "Moscow", "Leh", "Helsinki")
    start, step = draw.sample([draw.whole(2, 19), draw.whole(3, 24)], 2)
    asides = [
        f"The wind blows at {draw.whole(25, 60)} km an hour.",
        f"In {place} it has rained for {draw.whole(25, 60)} hours.",
    ]
    if draw.rng.random() < 0.7:
        return draw.tell(
            [
                f"At noon it was {start} °C in {place}. By midnight it had become {step} degrees colder. "
                f"What was the temperature at midnight?",
                f"The temperature in {place} fell by {step} degrees from {start} °C. What is it now?",
                f"It is {step} degrees colder today than yesterday. Yesterday it was {start} °C in {place}. "
                f"How warm is it today?",
            ],
            start - step,
            asides,
        )
    draw.need(start.value + step.value < 35)
    return draw.tell(
        [
            f"At dawn it was {start} °C in {place}. By noon it had become {step} degrees warmer. "
            f"What was the temperature at noon?",
            f"The temperature in {place} rose by {step} degrees from {start} °C. What is it now?",
            f"It is {step} degrees warmer today than yesterday. Yesterday it was {start} °C in {place}. "
            f"How warm is it today?",
        ],
        start + step,
        asides,
    )


@KINDS("weather.hours_of_cooling", steps=2)
def hours_of_cooling(draw: Draw) -> Draft:
    place = draw.choose("Oslo", "Shimla", "Toronto", "Moscow", "Leh", "Helsinki")
    start, fall, hours = draw.whole(4, 22), draw.whole(2, 4), draw.whole(3, 8)
    asides = [
        f"The wind blows at {draw.whole(25, 60)} km an hour.",
        f"In {place} it has rained for {draw.whole(25, 60)} hours.",
    ]
    if draw.rng.random() < 0.6:
        return draw.tell(
            [
                f"It is {start} °C in {place}. Every hour it gets {fall} degrees colder. "
                f"What is the temperature after {hours} hours?",
                f"For {hours} hours the temperature in {place} fell by {fall} degrees an hour. "
                f"It was {start} °C before. How many degrees is it now?",
                f"If it is {start} °C now and gets {fall} degrees colder each hour, "
                f"how warm is it in {hours} hours?",
            ],
            start - hours * fall,
            asides,
        )
    return draw.tell(
        [
            f"It is {start} °C in {place}. Every hour it gets {fall} degrees warmer. "
            f"What is the temperature after {hours} hours?",
            f"For {hours} hours the temperature in {place} rose by {fall} degrees an hour. "
            f"It was {start} °C before. How many degrees is it now?",
        ],
        start + hours * fall,
        asides,
    )

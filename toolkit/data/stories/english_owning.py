"""English stories of giving and getting: near-equal texts, different equations."""

from __future__ import annotations

from toolkit.data.stories.core import Draft, Draw, Kinds
from toolkit.data.stories.english_words import about, limit, people, person, things

KINDS = Kinds()


@KINDS("owning.gave", steps=1)
def gave(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    had, given = draw.falling(largest=limit(what))
    return draw.tell(
        [
            f"{who} had {had} {what}. {who.He} gave {given} of them to {friend}. "
            f"How many {what} does {who} have now?",
            f"{friend} got {given} {what} from {who}. Before that, {who} had {had} {what}. "
            f"How many {what} are left for {who}?",
            f"If {who} gives {given} of {who.his} {had} {what} to {friend}, how many will {who.he} keep?",
            f"How many {what} does {who} still have after losing {given} of {had}?",
            f"{given} {what} were taken from {who}, who had {had} before. "
            f"How many {what} does {who.he} have now?",
        ],
        had - given,
        about(draw, who, what),
    )


@KINDS("owning.got", steps=1)
def got(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    had, given = draw.sample(draw.falling(largest=limit(what)), 2)
    return draw.tell(
        [
            f"{who} had {had} {what}. {friend} gave {who.him} {given} more. "
            f"How many {what} does {who} have now?",
            f"{who} got {given} {what} from {friend}. Before that, {who} had {had} {what}. "
            f"How many {what} are there in {who.his} bag now?",
            f"If {friend} gives {who} {given} {what} and {who} already has {had}, "
            f"how many will {who.he} have?",
            f"How many {what} does {who} have after adding {given} to {who.his} {had}?",
        ],
        had + given,
        about(draw, who, what),
    )


@KINDS("owning.before_giving", steps=1)
def before_giving(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    left, given = draw.sample(draw.falling(largest=limit(what)), 2)
    return draw.tell(
        [
            f"After giving away {given} {what} to {friend}, {who} has {left} left. "
            f"How many {what} did {who} have at first?",
            f"{who} has {left} {what} now. Earlier {who.he} gave {given} to {friend}. "
            f"How many {what} did {who.he} have before?",
            f"{who} gave {given} {what} to {friend} and still has {left}. How many did {who.he} start with?",
            f"How many {what} were in {who}'s box if {left} remained after {friend} took {given} of them?",
        ],
        left + given,
        about(draw, who, what),
    )


@KINDS("owning.before_getting", steps=1)
def before_getting(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    now, given = draw.falling(largest=limit(what))
    return draw.tell(
        [
            f"After getting {given} {what} from {friend}, {who} has {now}. "
            f"How many {what} did {who} have at first?",
            f"{who} has {now} {what} now. Earlier {friend} gave {who.him} {given} of these. "
            f"How many {what} did {who.he} have before?",
            f"{friend} gave {given} {what} to {who}, who now has {now}. How many did {who} start with?",
            f"How many {what} were in {who}'s box if there are {now} since {friend} put in {given} more?",
        ],
        now - given,
        about(draw, who, what),
    )


@KINDS("owning.how_many_changed_hands", steps=1)
def how_many_changed_hands(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    more, less = draw.falling(largest=limit(what))
    return draw.tell(
        [
            f"{who} had {more} {what}. {who.He} gave some to {friend} and has {less} left. "
            f"How many did {friend} get?",
            f"{who} has {less} {what} left. In the morning there were {more}. How many {what} are gone?",
            f"{who} had {less} {what}. {friend} gave {who.him} some more, and now {who.he} has {more}. "
            f"How many {what} did {friend} give {who.him}?",
            f"{who} wants to have {more} {what}. So far {who.he} has {less}. "
            f"How many more does {who.he} need?",
            f"How many {what} must {who} still find to have {more} if {who.he} has {less} already?",
        ],
        more - less,
        about(draw, who, what),
    )


@KINDS("owning.gave_then_got", steps=2)
def gave_then_got(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    had, given, found = draw.falling(3, largest=limit(what))
    return draw.tell(
        [
            f"{who} had {had} {what}. {who.He} gave {given} to {friend} and then found {found} more. "
            f"How many {what} does {who} have now?",
            f"On Monday {who} had {had} {what}. On Tuesday {who.he} lost {given}. On Wednesday {friend} gave "
            f"{who.him} {found}. How many {what} did {who} have then?",
            f"{friend} took {given} {what} out of a basket and put {found} in. "
            f"There were {had} at the start. "
            f"How many {what} are in the basket now?",
            f"How many {what} does {who} have if {who.he} gets {found} today, lost {given} last week "
            f"and had {had} before that?",
        ],
        had - given + found,
        about(draw, who, what),
    )


@KINDS("owning.gave_twice", steps=2)
def gave_twice(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    had, given, eaten = draw.falling(3, largest=limit(what))
    draw.need(had.value > given.value + eaten.value)
    return draw.tell(
        [
            f"{who} had {had} {what}. {who.He} gave {given} to {friend} and lost {eaten}. "
            f"How many {what} does {who} have now?",
            f"{friend} took {given} {what} and Mother took {eaten}. There were {had} of them in the bowl. "
            f"How many {what} are left?",
            f"{who} sold {eaten} {what} in the morning and {given} in the afternoon. "
            f"{who.He} had brought {had}. How many were not sold?",
        ],
        had - given - eaten,
        about(draw, who, what),
    )


@KINDS("owning.before_two_changes", steps=2)
def before_two_changes(draw: Draw) -> Draft:
    who, friend = people(draw)
    what = things(draw)
    now, given, got_ = draw.falling(3, largest=limit(what))
    return draw.tell(
        [
            f"{who} gave {given} {what} to {friend} and got {got_} from an aunt. Now {who} has {now} {what}. "
            f"How many did {who.he} have at first?",
            f"{who} has {now} {what}. That is after getting {got_} from an aunt and giving {given} to "
            f"{friend}. "
            f"How many {what} did {who} have before?",
            f"How many {what} did {who} start with if {who.he} got {got_}, gave away {given} "
            f"and ended up with {now}?",
        ],
        now + given - got_,
        about(draw, who, what),
    )


@KINDS("owning.trading", steps=4)
def trading(draw: Draw) -> Draft:
    who = person(draw)
    what = things(draw)
    start, plus, minus = draw.falling(3, largest=min(980, limit(what)))
    packs, each = draw.whole(2, 6), draw.whole(7, 30)
    return draw.tell(
        [
            f"{who} had {start} {what}. {who.He} bought {packs} packs with {each} {what} each, "
            f"got {plus} from an "
            f"uncle and gave {minus} to a neighbour. How many {what} does {who} have now?",
            f"{who} gave {minus} {what} to a neighbour and got {plus} from an uncle. "
            f"Then {who.he} bought {packs} "
            f"packs of {each}. At the start {who.he} had {start}. How many {what} does {who} have now?",
            f"How many {what} does {who} have if {who.he} began with {start}, was given {plus}, lost {minus} "
            f"and then bought {packs} packs with {each} in each?",
        ],
        start + packs * each + plus - minus,
        about(draw, who, what),
    )

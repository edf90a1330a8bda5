"""The queue before work: bounded, fair between parties, and what it says of places is true, whatever comes and goes."""

import asyncio
import random
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot_site.lib.load.fair_queue import FairQueue, QueueFull, Ticket

PARTIES = st.integers(0, 4)
ARRIVALS = st.lists(PARTIES, min_size=1, max_size=40)


def queue(places: int = 2, own: int = 2, most: int = 20) -> FairQueue:
    return FairQueue(places=places, own_places=lambda _party: own, most_waiting=most)


def entered(line: FairQueue, parties: list[int]) -> list[Ticket]:
    """The tickets of those who were let in."""
    tickets = []
    for party in parties:
        with suppress(QueueFull):
            tickets.append(line.enter(party))
    return tickets


def check(line: FairQueue, tickets: list[Ticket]) -> None:
    served = Counter(ticket.party for ticket in tickets if ticket.is_served)
    waiting = [ticket for ticket in tickets if ticket.stage.value == "waiting"]
    assert served.total() == line.at_work <= line.places
    assert all(count <= line.own_places(party) for party, count in served.items())
    assert len(waiting) == line.waiting <= line.most_waiting
    if line.at_work < line.places:  # a place stays free only while nobody may take it
        assert all(served[ticket.party] == line.own_places(ticket.party) for ticket in waiting)


@given(places=st.integers(1, 4), own=st.integers(1, 4), most=st.integers(1, 12), seed=st.integers(), steps=ARRIVALS)
def test_it_is_bounded_and_no_place_is_idle_whatever_comes_and_goes(
    places: int, own: int, most: int, seed: int, steps: list[int]
) -> None:
    chance, line, tickets = random.Random(seed), queue(places, own, most), []
    for party in steps:
        tickets += entered(line, [party])
        if tickets and chance.random() < 0.5:
            tickets.pop(chance.randrange(len(tickets))).leave()
        check(line, tickets)
    for ticket in tickets:
        ticket.leave()
        ticket.leave()
    assert (line.at_work, line.waiting) == (0, 0)


@given(places=st.integers(1, 4), parties=ARRIVALS)
def test_each_is_told_truly_how_many_are_before_them(places: int, parties: list[int]) -> None:
    """As long as nobody comes: what was said is the place in the order of serving, and only falls meanwhile."""
    line = queue(places, own=places, most=100)
    tickets = entered(line, parties)
    said = {id(ticket): [ticket.before()] for ticket in tickets if not ticket.is_served}
    order: list[Ticket] = []
    while at_work := [ticket for ticket in tickets if ticket.is_served]:
        at_work[0].leave()
        order += [ticket for ticket in tickets if ticket.is_served and id(ticket) in said and ticket not in order]
        for ticket in tickets:
            if ticket.stage.value == "waiting":
                said[id(ticket)].append(ticket.before())
    assert len(order) == len(said), "nobody is forgotten"
    for place, ticket in enumerate(order):
        told = said[id(ticket)]
        assert told[0] == place
        assert told == sorted(told, reverse=True)


@given(floods=st.integers(1, 30), others=st.integers(1, 10))
def test_who_asks_once_waits_for_nothing_of_a_flood_that_was_served(floods: int, others: int) -> None:
    line = queue(places=1, own=1, most=200)
    entered(line, ["flood"] * (1 + floods))  # type: ignore[list-item]  # any hashable is a party
    one_each = entered(line, list(range(others)))
    assert [ticket.before() for ticket in one_each] == list(range(others))


@given(times=st.integers(1, 20))
def test_who_asks_now_and_then_comes_before_who_never_stops(times: int) -> None:
    line = queue(places=1, own=1, most=200)
    line.enter("now and then").leave()
    for _each in range(times):
        line.enter("flood").leave()
    at_work, *flood = entered(line, ["flood"] * 3)  # type: ignore[list-item]
    again = line.enter("now and then")
    at_work.leave()
    assert again.is_served
    again.leave()
    assert flood[0].is_served, "and the flood has what is left"


def test_who_asks_one_question_at_a_time_is_served_in_order_of_arrival() -> None:
    """Also behind several processes, each of which served only some of them before."""
    line = queue(places=1, own=1)
    line.enter("regular").leave()
    line.enter("at work")
    assert [line.enter(party).before() for party in ("regular", "new here")] == [0, 1]


@given(own=st.integers(1, 3), parties=ARRIVALS)
def test_nobody_starves_while_others_keep_coming(own: int, parties: list[int]) -> None:
    """A flood that always comes again passes a waiting party at most once for each place."""
    line = queue(places=3, own=own, most=60)
    working = entered(line, parties)
    mine = line.enter("mine")
    served_before = 0
    for _step in range(len(parties) * 2 + 10):
        if mine.is_served:
            break
        done = next(ticket for ticket in working if ticket.is_served)
        done.leave()
        working.remove(done)
        served_before += 1
        working += entered(line, [int(str(done.party))])
    assert mine.is_served
    assert served_before <= len(set(parties)) + line.places


@given(greedy=st.integers(1, 6), most=st.integers(8, 64))
def test_greedy_parties_leave_room_for_one_who_asks_for_the_first_time(greedy: int, most: int) -> None:
    line = queue(places=1, own=1, most=most)
    line.enter("at work")
    for _round in range(most):
        entered(line, list(range(greedy)))
    with pytest.raises(QueueFull) as full:
        line.enter(0)
    assert full.value.is_own
    assert not line.enter("new").is_served


def test_a_full_queue_takes_nobody_and_who_leaves_makes_room() -> None:
    line = queue(places=1, own=1, most=2)
    line.enter("at work")
    first = line.enter("a")
    line.enter("b")
    with pytest.raises(QueueFull) as full:
        line.enter("c")
    assert not full.value.is_own
    assert 1 <= full.value.retry_after_s <= 60
    first.leave()
    assert line.enter("c").before() == 1


def test_who_waits_is_told_again_when_the_place_has_changed_and_costs_no_thread() -> None:
    async def scene() -> list[int]:
        line = queue(places=1, own=1)
        tickets = [line.enter(party) for party in range(4)]
        told = []
        async for before in tickets[3].turn(tell_s=0.001):
            told.append(before)
            next(ticket for ticket in tickets if ticket.is_served).leave()
        assert tickets[3].is_served
        return told

    assert asyncio.run(scene()) == [2, 1, 0]


def test_who_stops_waiting_leaves_the_others_their_places() -> None:
    async def scene() -> None:
        line = queue(places=1, own=1)
        first, gone, last = (line.enter(party) for party in range(3))
        waits = asyncio.ensure_future(gone.served_within(60))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)
        gone.leave()
        assert last.before() == 0
        first.leave()
        assert last.is_served
        assert await last.served_within(0)

    asyncio.run(scene())


def test_without_parties_everybody_waits_for_all_of_a_flood() -> None:
    """The control: one line for all, as it was, lets everybody wait for all of a flood."""
    line = queue(places=1, own=1, most=200)
    together = [line.enter("everybody") for _number in range(40)]
    assert together[-1].before() == 38

"""How many runs a process works on at once, and who is next: a fair queue before the first step of a run.

Its parties are people, and beside each person all of their API tokens together: nobody comes before others by asking more, or through
more tokens. A run with a language model mostly waits for it, one without keeps a processor busy: each kind has a queue of its own.
The queues are those of one process; several processes have several, and what they share are the connections to the database.
"""

from collections.abc import Hashable
from functools import cache

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from authz.principal import Principal
from copilot_site.lib.errors import TooMany, Unavailable
from copilot_site.lib.fair_queue import FairQueue, QueueFull, Ticket


@cache
def queue(*, has_model: bool) -> FairQueue:
    """The queue of this process for runs with or without a language model.

    Nobody has more than half of the places, so that whoever comes beside a flood finds one, or the next one.
    """
    places = settings.MODEL_RUNS_AT_ONCE if has_model else settings.RUNS_AT_ONCE
    half = max(1, places // 2)
    return FairQueue(
        places=places,
        own_places=lambda party: min(half, _own_places(party)),
        most_waiting=settings.RUNS_WAITING,
    )


def admitted(principal: Principal, *, has_model: bool) -> Ticket:
    """A place for a run, or one in the queue; whoever has it calls `leave` when the run is over.

    Raises Unavailable where nobody more may wait, TooMany where this person may not.
    """
    try:
        return queue(has_model=has_model).enter((principal.user_id, principal.token_id is not None))
    except QueueFull as full:
        raise _refusal(full) from full


def place_in_words(before: int, language: str) -> str:
    """What is said to whoever waits. before: questions that are begun before theirs."""
    with override(language):
        if not before:
            return _("Others are being answered; yours is next.")
        return ngettext("%(count)d question before yours.", "%(count)d questions before yours.", before) % {
            "count": before
        }


def _own_places(party: Hashable) -> int:
    assert isinstance(party, tuple)
    _user_id, is_program = party
    return settings.RUNS_PER_PROGRAM if is_program else settings.RUNS_PER_PERSON


def _refusal(full: QueueFull) -> Unavailable:
    values = {"seconds": full.retry_after_s}
    if full.is_own:
        return TooMany(
            _("Too many of your questions are waiting. This one was not taken; ask it again in %(seconds)s s.")
            % values,
            retry_after_s=full.retry_after_s,
        )
    return Unavailable(
        _("Too many people are asking at the moment. Your question was not taken; ask it again in %(seconds)s s.")
        % values,
        retry_after_s=full.retry_after_s,
    )

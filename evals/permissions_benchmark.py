"""`manage.py benchmark permissions`: count what people are shown that they may not see, and what they should find and do not."""

import logging
import random
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from copilot_site.lib.progress import show_progress_bar
from evals.permissions_systems import FETCHED, Copilot, FetchThenFilter, Shown, System
from evals.permissions_world import SHARES, PermissionsWorld, make_permissions_world
from evals.report import Report, Row

_CODE = re.compile(r"(?:KX|DF)-\d{5}")


@dataclass
class Tally:
    """The results of one person. readable: questions about documents that they may read; recalled: those whose document was shown.

    leaks: by channel, outside revocations.
    late: channels that showed what was revoked meanwhile. overcounted: numbers of documents told that were too high.
    """

    asked: int = 0
    readable: int = 0
    recalled: int = 0
    overcounted: int = 0
    leaks: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)


class PermissionsBenchmark:
    """Asks two systems the same questions as people who see 100, 10, 1 and 0.1 % of the same documents."""

    help = (
        "Ask about documents that a person may and may not read, some of them revoked during the answer, and search everything "
        "that was shown for codes of other documents. Leaves a knowledge base and four inactive people for the next run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--documents", type=int, default=1_000)
        parser.add_argument("--questions", type=int, default=25, help="of each kind for each person")
        parser.add_argument("--revocations", type=int, default=10, help="for each person")
        parser.add_argument("--seed", type=int, default=1)

    def run(self, options: Mapping[str, Any]) -> Report:
        world = make_permissions_world(options["documents"], options["seed"])
        ours = Copilot()
        logging.disable(logging.WARNING)  # each request has a line
        try:
            found = [
                measure(system, world, options["questions"], options["revocations"], options["seed"])
                for system in (ours, FetchThenFilter(ours))
            ]
        finally:
            logging.disable(logging.NOTSET)
            ours.close()
        return _report(found, options)


def measure(system: System, world: PermissionsWorld, questions: int, revocations: int, seed: int) -> dict[str, Tally]:
    """Load the world into a system, ask as every person, and return their tallies."""
    system.load(world)
    owners = {code: one.id for one in world.documents.values() for code in (one.code, one.number)}
    found = {}
    for person, visible in show_progress_bar(world.people.items(), desc=system.name, unit="person"):
        chance = random.Random(f"{seed} {person}")  # noqa: S311 - repeats a run, hides nothing
        system.grant(person, sorted(visible))
        tally = found[person] = Tally()
        for document in _sample(visible, questions, chance):
            shown = system.ask(person, world.documents[document].question)
            tally.readable += 1
            tally.recalled += document in shown.documents
            _count(tally, shown, visible, owners)
        for document in _sample(world.documents.keys() - visible, questions, chance):
            _count(tally, system.ask(person, world.documents[document].question), visible, owners)
        for document in _sample(visible, revocations, chance):
            shown = system.ask(person, world.documents[document].question, partial(system.revoke, person, [document]))
            tally.asked += 1
            tally.late.update(_leaking(shown, visible - {document}, owners))
            system.grant(person, [document])
    return found


def _sample(ids: Collection[str], count: int, chance: random.Random) -> list[str]:
    return chance.sample(sorted(ids), min(count, len(ids)))


def _count(tally: Tally, shown: Shown, visible: Collection[str], owners: Mapping[str, str]) -> None:
    tally.asked += 1
    tally.leaks.update(_leaking(shown, visible, owners))
    tally.overcounted += sum(count > len(visible) for count in shown.counts)


def _leaking(shown: Shown, visible: Collection[str], owners: Mapping[str, str]) -> list[str]:
    """Return the channels with a code of a document that the person may not read, and "sources" for such a source."""
    leaking = [
        name for name, text in shown.channels.items()
        if any(owners[code] not in visible for code in _CODE.findall(text) if code in owners)
    ]  # fmt: skip
    return leaking + ["sources"] * any(document not in visible for document in shown.documents)


def _report(found: list[dict[str, Tally]], options: Mapping[str, Any]) -> Report:
    rows = list[Row]()
    for person, ours in found[0].items():
        peer, name = found[1][person], f"sees {SHARES[person]:.1%}"
        rows += [
            Row(f"{name}: found", "%", 100 * ours.recalled / ours.readable, 100 * peer.recalled / peer.readable),
            Row(f"{name}: leaks", "", ours.leaks.total(), peer.leaks.total()),
            Row(f"{name}: leaks after a revocation", "", ours.late.total(), peer.late.total()),
            Row(f"{name}: too high counts", "", ours.overcounted, peer.overcounted),
        ]
    channels = {channel for tally in found[0].values() for channel in tally.leaks + tally.late}
    return Report(
        peer=f"the {FETCHED} nearest passages of everybody in the same pgvector, then a filter by the rights read as the request began",
        rows=rows,
        facts={
            "documents": options["documents"],
            "questions asked of each system": sum(tally.asked for tally in found[0].values()),
            "channels of ours that leaked": ", ".join(sorted(channels)) or "none",
        },
    )

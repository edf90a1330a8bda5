"""Read sets of questions, and open their databases, layers and linkers."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from authz.principal import Principal
from business.connections.address import Address
from business.execute import Access
from business.introspect import draft_layer, fill_values
from business.jsonl import read_jsonl
from business.linking.index import LayerIndex
from business.linking.linker import WHOLE_COLUMNS, Linker
from business.linking.vectors import build_nearest_search, update_vectors
from business.models import DataSource
from business.sandbox.scratch_database import open_scratch_database
from business.semantic_layer.model import SemanticLayer, UnitRule
from business.semantic_layer.rights import policy_of
from business.semantic_layer.yaml_io import read_layer
from copilot_site.lib.commands import read_text_file
from copilot_site.lib.errors import InvalidInput
from evals.command import ReportCommand
from evals.rows import alternatives

_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Asked:
    """One question. gold: its statements, see `evals.rows`. database: the name of its database."""

    id: str
    question: str
    gold: str
    database: str
    is_answerable: bool

    @property
    def language(self) -> str:
        return "zh" if _HAN.search(self.question) else "en"

    @property
    def golds(self) -> list[str]:
        """Return every statement that counts as gold; none where the data do not answer the question."""
        return alternatives(self.gold) if self.is_answerable else []


class QuestionSetCommand(ReportCommand):
    """Measure the questions of a folder with their databases."""

    help = "Read DIR/questions.*.jsonl {id, question, query, db_name}, load the databases, and measure the questions on them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, help="questions.*.jsonl, dbs/<name>.sql, layers/<name>.yaml if written"
        )
        parser.add_argument("--databases", type=Path, action="append", default=[], help="further folder of <name>.sql")
        parser.add_argument("--questions", default="questions.*.jsonl", help="which files of the folder")
        super().add_arguments(parser)


def questions_by_database(options: dict[str, Any]) -> list[tuple[str, list[Asked]]]:
    """Read the questions that the options of a `QuestionSetCommand` name. Raises InvalidInput."""
    asked = sorted(questions_in(options["folder"], options["questions"]), key=lambda one: one.database)
    for further in options["databases"]:
        if not further.is_dir():
            raise InvalidInput(f"{further} is not a folder; name one that holds <name>.sql files.")
    return [(name, list(group)) for name, group in groupby(asked, key=lambda one: one.database)]


def questions_in(folder: Path, pattern: str) -> list[Asked]:
    """Read the questions of the files of a folder. Raises InvalidInput where no file has such a name, or with the bad line."""
    try:
        files = sorted(file for file in folder.glob(pattern) if file.is_file())
    except (ValueError, NotImplementedError) as error:  # empty, or absolute
        raise InvalidInput(
            f"“{pattern}” names no files of a folder ({error}); write something like questions.*.jsonl."
        ) from error
    if not files:
        raise InvalidInput(f"There is no {pattern} in {folder}.")
    keys = ("id", "question", "db_name")
    return [
        read_asked(row) for f in files for row in read_jsonl(read_text_file(f).splitlines(), keys=keys, name=f.name)
    ]


def read_asked(row: dict[str, Any]) -> Asked:
    """Read a line of a question file; sets of unanswerable questions are called idk, or say `answerable: false`."""
    answerable = bool(row.get("answerable", row.get("set") != "idk"))
    return Asked(str(row["id"]), str(row["question"]), str(row.get("query", "")), str(row["db_name"]), answerable)


@contextmanager
def loaded(
    name: str, folder: Path, further: Sequence[Path] = (), *, drafted: bool = False
) -> Iterator[tuple[Address, SemanticLayer]]:
    """Load a database of the set, and its layer: `layers/<name>.yaml`, else drafted.

    further: more folders of databases. drafted: draft the layer in any case, in the time zone of the written one.
    """
    places = [folder / "dbs", folder, *further]
    seed = next((place / f"{name}.sql" for place in places if (place / f"{name}.sql").is_file()), None)
    if seed is None:
        raise InvalidInput(f"There is no {name}.sql in {', '.join(map(str, places))}.")
    file = folder / "layers" / f"{name}.yaml"
    written = read_layer(read_text_file(file)) if file.is_file() else None
    with open_scratch_database(seed) as address:
        if written is not None and not drafted:
            layer = fill_values(address, written)
        else:
            layer = draft_layer(address, "scratch", time_zone=written.time_zone if written else "UTC")
        yield address, opened_to_all(layer)


def opened_to_all(layer: SemanticLayer) -> SemanticLayer:
    """Open every table to everybody, because the gold statements read each table whole."""
    shared = UnitRule(shared_with="everyone")
    models = tuple(m.model_copy(update={"org_unit": shared}) for m in layer.semantic_models)
    return layer.model_copy(update={"semantic_models": models})


def access_of(address: Address, layer: SemanticLayer, principal: Principal) -> Access:
    """Return the access that the person's statements run with."""
    policy = policy_of(layer, principal.org_units, granted=(), source_granted=True)
    return Access(address, policy, time_zone=layer.time_zone)


@contextmanager
def stored_linker(layer: SemanticLayer, *, whole_columns: int = WHOLE_COLUMNS) -> Iterator[Linker]:
    """Open a linker whose vectors are in the database, as those of a saved source are, until the block ends."""
    with transaction.atomic():
        source = DataSource(name=f"linking-{time.time_ns()}"[:50], database="none")
        source.layer = layer.model_dump(mode="json", by_alias=True)
        source.save()
        update_vectors(source)
        index = LayerIndex.of(layer)
        yield Linker(layer, index, build_nearest_search(source.pk, index), whole_columns)
        transaction.set_rollback(True)

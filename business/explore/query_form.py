"""A question of one person to one source, from the fields of the form: compiled, run behind guard and sandbox, said in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from asgiref.sync import async_to_sync
from django.utils.translation import get_language, gettext_lazy
from pydantic import ValidationError

from authz.principal import Principal
from business.explore.fields import SEVERAL, Fields
from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import describe, sentence
from business.presentation.query import query_shown
from business.results.shown_query import QueryShown
from business.run_query import run_query
from business.sources import OpenSource

_KINDS = {
    "metrics": gettext_lazy("What is shown"), "filters": gettext_lazy("Condition"), "times": gettext_lazy("Time"),
    "related": gettext_lazy("What belongs to it"), "having": gettext_lazy("Only such groups"),
    "ranking": gettext_lazy("Order"), "comparison": gettext_lazy("Compared with"),
    "outcome": gettext_lazy("What is made of the table"),
}  # fmt: skip


@dataclass(frozen=True)
class Asking:
    principal: Principal
    opened: OpenSource
    fields: Fields

    @property
    def language(self) -> str:
        return get_language() or "en"

    @cached_property
    def query(self) -> LogicalQuery:
        """Raises Inexpressible with what is missing."""
        return self.fields.query(self.opened.catalog)

    def compiled(self) -> str:
        """The statement. Raises Inexpressible with why it cannot be asked."""
        return compile_query(self.query, self.opened.catalog, self.opened.today)

    @cached_property
    def sentence(self) -> str:
        return sentence(self.query, self.opened.catalog, self.language, self.opened.today)

    def run(self) -> QueryShown:
        """Raises Inexpressible, and what `run_query` raises."""
        statement = self.compiled()
        meaning = describe(self.query, self.opened.catalog, self.language, self.opened.today)
        result = async_to_sync(run_query)(self.principal, self.opened, statement)
        return query_shown(
            result,
            self.opened,
            question=self.sentence,
            statement=statement,
            meaning=meaning,
            language=self.language,
        )

    def carried(self) -> Iterator[tuple[str, str, str]]:
        """The parts that the form has no fields for: each as it is, of which kind it is, and what it says where that can be told."""
        try:
            parts = list(self.fields.carried())
        except Inexpressible:
            return
        for text, (name, part) in zip(self.fields.also, parts, strict=True):
            yield text, str(_KINDS[name]), self._said(name, part)

    def _said(self, name: str, part: object) -> str:
        """What the question says with this part alone, beside its subject."""
        try:
            whole = self.query.model_dump(exclude_defaults=True)
            subject = {key: value for key, value in whole.items() if key in ("metrics", "rows", "dimensions", "times")}
            alone = LogicalQuery.model_validate(subject | {name: [part] if name in SEVERAL else part})
            meaning = describe(alone, self.opened.catalog, self.language, self.opened.today)
        except (Inexpressible, ValidationError):
            return ""
        if name in ("metrics", "outcome"):
            return meaning.figure
        told = {"ranking": meaning.by[-1:], "comparison": meaning.window[-1:], "times": meaning.window}
        conditions = meaning.conditions[len(meaning.window) :]
        return ("；" if self.language.startswith("zh") else "; ").join(told.get(name, conditions))

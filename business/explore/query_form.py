"""A question of one person to one source, from the fields of the form: compiled, run behind guard and sandbox, said in words."""

from dataclasses import dataclass
from functools import cached_property

from asgiref.sync import async_to_sync
from django.utils.translation import get_language

from authz.principal import Principal
from business.explore.fields import Fields
from business.logical_query.compiler import compile_query
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import describe, sentence
from business.presentation.query import query_shown
from business.results.shown_query import QueryShown
from business.run_query import run_query
from business.sources import OpenSource


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

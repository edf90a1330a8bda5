"""An overseer who keeps an evaluation set, and people whose questions are in it."""

from typing import Any

from django.contrib.auth.models import User

from agent.models import Case, CaseResult, SetRun
from agent.question_sets.runner import ask_next_question
from agent.question_sets.services import add_case, create_question_set, start_run
from tests.factories import allow, make_user
from tests.integration.agent.conversations import LEAVE, make_library, make_reader
from tests.integration.governance.world import make_overseer


class Desk:
    """An overseer with a set; a reader of the handbook, who may not read the salaries; a board member, who may."""

    def __init__(self) -> None:
        base, self.manual, self.secret = make_library()
        self.reader, self.board = make_reader(base), make_user("board")
        allow(self.board, self.secret.folder.knowledge_base)
        self.olga = make_overseer()
        self.set = create_question_set(self.olga, "Leave")

    def case(self, question: str = LEAVE, person: User | None = None, **expected: Any) -> Case:
        given: dict[str, Any] = {"is_answerable": None, **expected}
        return add_case(self.olga, self.set.pk, question=question, person=(person or self.reader).username, **given)

    def run(self) -> SetRun:
        """A run to its end, as the worker's tasks do it."""
        run = start_run(self.olga, self.set.pk, language="en")
        while ask_next_question(run.pk):
            pass
        return SetRun.objects.get(pk=run.pk)

    def result(self, case: Case) -> CaseResult:
        return CaseResult.objects.get(run=self.run(), case=case)

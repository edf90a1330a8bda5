"""Notices to the person about deviations of a run from the expected; no downgrade is silent."""

import structlog
from django.utils.translation import override

from agent import texts
from agent.budget import Limit
from agent.providers.base import ModelError
from agent.providers.metered import OutOfBudget
from agent.run_state.run import Run
from agent.run_state.state import ToolProblem
from agent.tools.calling import CallOutcome

log = structlog.get_logger(__name__)


def report_model_failure(run: Run, error: ModelError) -> None:
    """Stop using the model in this run, and tell the person how the answer is made instead."""
    log.warning("run.model_failed", run=str(run.message_id), error=str(error))
    run.state.tools.errors.append(ToolProblem(tool="model", type=type(error).__name__, msg=str(error)))
    run.model_gave_up = True
    if isinstance(error, OutOfBudget):
        run.spent.stopped_by = error.limit
    with override(run.language):
        if isinstance(error, OutOfBudget):
            sentence = str(texts.MODEL_LIMIT)
        else:
            sentence = str(texts.MODEL_SILENT)
    run.tell(sentence)


def record_judge_failure(run: Run, error: ModelError) -> None:
    """Record that the judge failed; the sentences it did not judge are marked as unchecked."""
    log.warning("run.judge_failed", run=str(run.message_id), error=str(error))
    run.state.tools.errors.append(ToolProblem(tool="judge", type=type(error).__name__, msg=str(error)))


def record_reached_limit(run: Run, limit: Limit) -> None:
    """Record the limit that ended the search; the answer is written from what was found."""
    run.spent.stopped_by = limit
    if limit in {Limit.REPEATED, Limit.NOTHING_NEW}:
        return  # that is how a search ends when there is nothing more to find
    with override(run.language):
        run.tell(str(texts.SEARCH_STOPPED))


def report_broken_answer(run: Run, error: ModelError) -> None:
    """Tell the person that the model broke off; the part already written stays."""
    log.warning("run.model_broke_off", run=str(run.message_id), error=str(error))
    run.state.tools.errors.append(ToolProblem(tool="model", type=type(error).__name__, msg=str(error)))
    with override(run.language):
        run.tell(str(texts.MODEL_BROKE_OFF))


def explain_unqueried_data(run: Run, called: CallOutcome) -> None:
    """Tell the person that business data could not be queried and what they can do.

    Data managers get the details elsewhere.
    """
    with override(run.language):
        if called.problem in {"SourceUnavailable", "SourceRefused", "SandboxRefused"}:
            run.tell(str(texts.DATA_SILENT))
        elif called.problem == "SqlRefused":
            run.tell(called.result.error)


def explain_unread_data(run: Run) -> None:
    """Tell the person why business data did not answer their question; documents may still."""
    with override(run.language):
        for reason in run.state.plan.explore.why if run.state.plan.explore else ():
            run.tell(str(texts.DATA_UNREAD) % {"why": reason})

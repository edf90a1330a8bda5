"""Count runs for `/metrics`: their ends, durations, cost of models, and the verdicts on sentences."""

from typing import TYPE_CHECKING

from copilot_site.lib.measures import LONG_S, Durations, EventCount

if TYPE_CHECKING:
    from agent.run_state.run import Run

RUNS = EventCount("copilot_runs", "Questions answered, by how they ended.", ("outcome",))
RUN_S = Durations(
    "copilot_run_duration_seconds", "From the turn of a question to its stored answer.", ("outcome",), LONG_S
)
FIRST_SENTENCE_S = Durations(
    "copilot_first_sentence_seconds", "From a question to the first sentence shown, its wait included.", (), LONG_S
)
MODEL_CALL_S = Durations(
    "copilot_model_call_duration_seconds",
    "Calls of language models; error: its kind, empty for none.",
    ("model", "error"),
    LONG_S,
)
TOKENS = EventCount("copilot_model_tokens", "Tokens of language models, sent and written.", ("model", "direction"))
COST = EventCount("copilot_model_cost", "Cost in the currency of the models' prices.", ("model",))
SLOTS = EventCount(
    "copilot_slots", "Sentences, rows and items written by a model: checked, unchecked (and marked so), left out.", ("verdict",)
)  # fmt: skip


def count_finished_run(run: "Run", seconds: float) -> None:
    """Count a run at its end. seconds: since its turn came."""
    outcome, model, spent = run.stop_reason.value, run.model.name if run.model else "", run.spent
    RUNS.add(outcome)
    RUN_S.observe(seconds, outcome)
    for call in spent.model_calls:
        MODEL_CALL_S.observe((call.ended_ns - call.began_ns) / 1e9, model, call.error)
    if spent.tokens:
        TOKENS.add(model, "input", by=spent.input_tokens)
        TOKENS.add(model, "output", by=spent.output_tokens)
        COST.add(model, by=float(spent.cost))

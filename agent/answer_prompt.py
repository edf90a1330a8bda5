"""What a model reads that writes an answer in one call: its rules, the evidence and the question."""

from django.utils import timezone

from agent.attribution.answer_language import asked_in
from agent.attribution.standing import is_unapproved
from agent.fencing import escaped, fenced
from agent.prompting import count_tokens, dated, prompt
from agent.run import Finding, Run

MOST_EVIDENCE = 12
EVIDENCE_SHARE = 0.5  # of the model's context for evidence


def answer_messages(run: Run, *, is_again: bool = False) -> list[dict[str, object]]:
    """is_again: the language is said once more, after the question."""
    language, evidence = asked_in(run), _chosen(run)
    names = ["answer"]
    names += [f"tone_{run.profile.tone}"] if run.profile.tone else []
    names += ["answer_outside"] if any(finding.outside for finding in evidence.values()) else []
    names += ["answer_unapproved"] if any(is_unapproved(finding) for finding in evidence.values()) else []
    blocks = [
        fenced(finding.item, number=number, is_unapproved=is_unapproved(finding))
        for number, finding in evidence.items()
    ]
    if run.workings:
        blocks.append("\n".join(["<calculations>", *map(escaped, run.workings), "</calculations>"]))
    content = "\n".join([*blocks, "", run.state.input.normalized_query])
    if is_again or run.answers_in:
        content = f"{content}\n\n{run.use(prompt('answer_language', language))}"
    system = "\n".join(run.use(prompt(name, language)) for name in names)
    return [
        {"role": "system", "content": dated(system, timezone.localdate())},
        {"role": "user", "content": content},
    ]


def _chosen(run: Run) -> dict[int, Finding]:
    """The evidence that the model is shown, by number: what is approved before what waits for it, what is known inside before pages
    from outside, the first found first, as much as fits.
    """
    assert run.model is not None
    left = int(run.model.context_tokens * EVIDENCE_SHARE)
    chosen: dict[int, Finding] = {}
    for number, finding in sorted(
        run.numbered.items(), key=lambda each: (each[1].outside is not None, is_unapproved(each[1]))
    ):
        left -= count_tokens(finding.item.text) + 40
        if left < 0 or len(chosen) == MOST_EVIDENCE:
            break
        chosen[number] = finding
    return chosen

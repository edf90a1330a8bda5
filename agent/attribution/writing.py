"""The model writes; each sentence is checked against what it cites before anybody sees it."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from agent.answer import CitedAnswer, CitedQuery, CitedSentence, CitedSpan
from agent.attribution.injection_filter import without_injections
from agent.attribution.sentences import CitedStatement, Sentences
from agent.attribution.support import best_of, nearest, supported
from agent.events import Answer, KnowledgeReference, QueryReference, References
from agent.evidence import cited_query, cited_span, query_reference, reference, result_told
from agent.prompting import prompt
from agent.providers.base import ModelBroken
from agent.runs.threads import worked
from agent.state import Finding, Run, State
from agent.tokens import count_tokens
from agent.tools.output import escaped, fenced
from agent.workflow import Together, add_trace
from knowledge.embedding.base import Embedder
from knowledge.ingestion.language import language_of

MOST_EVIDENCE = 12
EVIDENCE_SHARE = 0.5  # of the model's context for evidence
MOST_SENTENCES = 24
NO_ANSWER = "NO_ANSWER"
CUT = frozenset({"length", "max_tokens", "content_filter"})  # why a service ends an answer that the model has not ended


@dataclass
class Writer:
    """One answer in the making. dropped: sentences that were left out, by why; counts alone are kept. lost: the results of queries
    that they were about.
    """

    run: Run
    embedder: Embedder
    kept: list[CitedSentence] = field(default_factory=list)
    spans: dict[int, CitedSpan] = field(default_factory=dict)
    queries: dict[int, CitedQuery] = field(default_factory=dict)
    references: list[KnowledgeReference] = field(default_factory=list)
    query_references: list[QueryReference] = field(default_factory=list)
    strengths: list[float] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    lost: dict[int, Finding] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _abstains: bool = False

    def __post_init__(self) -> None:
        self.evidence = self._chosen()
        self.provider = self.run.model.name if self.run.model else ""

    @property
    def has_sentences(self) -> bool:
        return bool(self.kept)

    async def written(self) -> AsyncIterator[Together]:
        """The answer's events as its sentences come, those of a sentence together; `closing` follows. Raises ModelError."""
        assert self.run.model is not None
        sentences, finish, has_text = Sentences(), "", False
        async for delta in self.run.model.stream(self._messages()):
            finish, has_text = finish or delta.finish, has_text or bool(delta.text.strip())
            for statement in sentences.take(delta.text):
                if events := await self._checked(statement):
                    yield events
            if self._abstains or len(self.kept) >= MOST_SENTENCES:
                return
        is_cut = finish in CUT
        for statement in sentences.rest(is_cut=is_cut):
            if events := await self._checked(statement):
                yield events
        if is_cut or not has_text:
            raise ModelBroken(f"{self.provider} ended its answer early ({finish or 'nothing was written'})")

    def results(self) -> Iterator[Together]:
        """The events of results whose sentence was left out: they stay, each with its own headline."""
        for number, finding in self.lost.items():
            if number not in self._numbers:
                self.strengths.append(1.0)
                yield self._kept(CitedSentence(result_told(finding), (number,)))

    def closing(self) -> Iterator[Together]:
        """What ends the answer's events; nothing where there is no answer."""
        if notices := tuple(self.run.fresh_notices()):
            yield notices
        if self.kept:
            yield self._references(done=True), Answer(done=True, data={"provider": self.provider})

    def record(self) -> None:
        """Put what was written into the run and its trace."""
        confidence = round(min(self.strengths), 4) if self.strengths else 0.0
        if self.kept:
            self.run.deliver(self._so_far(), confidence)
        kinds = sorted({reason.partition(" ")[0] for reason in self.dropped})
        note = f"kept={len(self.kept)} dropped={len(self.dropped)} {' '.join(kinds)}".strip()
        add_trace(self.run, State.SYNTHESIZE, action="write", out={"confidence": confidence, "note": note})

    async def _checked(self, statement: CitedStatement) -> Together:
        """The events of one sentence, if the evidence supports it."""
        if NO_ANSWER in statement.text:
            self._abstains = not self.kept
            return ()
        numbers, strength, why = await worked(self._supported, statement)
        if why:
            self.dropped.append(why)
            self.lost |= self._results_of(statement)
            return ()
        self.strengths.append(strength)
        return self._kept(CitedSentence(statement.text, numbers))

    def _results_of(self, statement: CitedStatement) -> dict[int, Finding]:
        """The results of queries that a sentence cites; of one that cites nothing, all."""
        cited = [number for number in statement.numbers if number in self.evidence] or list(self.evidence)
        return {n: self.evidence[n] for n in cited if self.evidence[n].item.type == "sql_result"}

    def _kept(self, stands: CitedSentence) -> Together:
        """The events of a sentence that stands. stands: with the numbers of its evidence, in place of those that people see."""
        fresh = [number for number in stands.citations if number not in self._numbers]
        for number in fresh:
            self._cite(number, stands.text)
        sentence = CitedSentence(stands.text, tuple(self._numbers[number] for number in stands.citations))
        gap = " " if self.kept else ""
        self.kept.append(sentence)
        self.run.answer = self._so_far()  # what is stored if somebody stops the run here
        answer = Answer(content=f"{gap}{sentence.marked}", data={"provider": self.provider})
        return (self._references(done=False), answer) if fresh else (answer,)

    def _supported(self, statement: CitedStatement) -> tuple[tuple[int, ...], float, str]:
        """Evidence numbers, strength, and why it is not supported, "" where it is."""
        texts = {n: without_injections(f"{f.item.source.title}\n{f.item.text}") for n, f in self.evidence.items()}
        asked, also = self.run.state.input.normalized_query, "\n".join(self.run.workings)
        cited = tuple(number for number in statement.numbers if number in texts)
        if cited:
            support = supported(
                statement.text, [texts[number] for number in cited], self.embedder, question=asked, also=also
            )
            if support.ok:
                return cited, support.strength, ""
        cited, support = best_of(statement.text, texts, self.embedder, question=asked, also=also)
        return cited, support.strength, "" if support.ok else support.missing or "meaning"

    def _so_far(self) -> CitedAnswer:
        return CitedAnswer(self.provider, tuple(self.kept), tuple(self.spans.values()), tuple(self.queries.values()))

    def _references(self, *, done: bool) -> References:
        return References(
            knowledge_references=list(self.references), query_references=list(self.query_references), done=done
        )

    def _cite(self, number: int, sentence: str) -> None:
        """Give a piece of evidence the next number that people see; the cited span is its sentence that says most of it."""
        shown = self._numbers[number] = len(self._numbers) + 1
        item, passage = self.evidence[number].item, self.evidence[number].passage
        if passage is None:
            self.queries[shown] = cited_query(shown, self.evidence[number])
            self.query_references.append(query_reference(shown, self.evidence[number]))
            return
        score = item.score or 0.0
        start, end = nearest(sentence, passage.text)
        self.spans[shown] = cited_span(shown, passage, score, start=start, end=end)
        self.references.append(reference(shown, passage, score, start=start, end=end))

    def _chosen(self) -> dict[int, Finding]:
        """The evidence that the model is shown, by number: the first found first, as much as fits."""
        assert self.run.model is not None
        left = int(self.run.model.context_tokens * EVIDENCE_SHARE)
        chosen: dict[int, Finding] = {}
        for finding in self.run.findings.values():
            left -= count_tokens(finding.item.text) + 40
            if left < 0 or len(chosen) == MOST_EVIDENCE:
                break
            chosen[len(chosen) + 1] = finding
        return chosen

    def _messages(self) -> list[dict[str, object]]:
        run = self.run
        question = run.state.input.normalized_query
        system = run.use(prompt("answer", language_of(question) or run.language))
        blocks = [fenced(finding.item, number=number) for number, finding in self.evidence.items()]
        if run.workings:
            blocks.append("\n".join(["<calculations>", *map(escaped, run.workings), "</calculations>"]))
        content = "\n".join([*blocks, "", question])
        return [{"role": "system", "content": system}, {"role": "user", "content": content}]

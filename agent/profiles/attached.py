"""The files of a conversation, as a run sees them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from agent.prompting import Prompt, prompt


@dataclass(frozen=True)
class Attached:
    """asked_with: ids of the files attached to the question. names: of all readable files of the conversation."""

    asked_with: Sequence[UUID] = ()
    names: Mapping[UUID, str] = field(default_factory=dict)

    def prompt(self, language: str, *, use: Callable[[Prompt], str]) -> str:
        """Return the prompt that describes the files, appended to the model's other instructions.

        "" where there are none. use: records a prompt and returns its text.
        """
        if not self.names:
            return ""
        ordered = sorted(self.names, key=lambda pk: pk not in self.asked_with)
        lines = [f"- {'[*] ' if pk in self.asked_with else ''}{pk}: {self.names[pk]}" for pk in ordered]
        return "\n".join(["", "", use(prompt("attached", language)), *lines])

"""A place to think in the open."""

from pydantic import Field

from agent.tools.base import Tool, ToolArgs, ToolContext, ToolOutput, ToolText, add_tool


class ThinkingArgs(ToolArgs):
    thought: str = Field(min_length=1, max_length=4_000, description="What you think now, in a few sentences.")
    next_thought_needed: bool = Field(default=False, description="Whether you want to think on before you act.")


class ThinkingTool(Tool):
    """Think step by step before you act: split the question, weigh what you found, decide what is missing.

    It reads nothing and changes nothing. Use it when a question has parts or when two sources disagree.
    """

    name = "thinking"
    label = ToolText("Think", "思考")
    description = ToolText(
        "Reflects on the question and on what was found, step by step.", "动态和反思性的问题解决思考工具"
    )
    Args = ThinkingArgs
    timeout_s = 1.0
    is_for_plans = True
    brings = "nothing"

    async def run(self, ctx: ToolContext, args: ThinkingArgs) -> ToolOutput:
        return ToolOutput(
            "Noted.",
            {
                "display_type": "thinking",
                "thought": args.thought,
                "next_thought_needed": args.next_thought_needed,
            },
        )


add_tool(ThinkingTool())

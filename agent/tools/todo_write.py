"""A plan that the person can follow."""

from typing import Literal

from pydantic import Field

from agent.tools.base import Tool, ToolArgs, ToolContext, ToolOutput, ToolText, add_tool


class TodoStep(ToolArgs):
    description: str = Field(min_length=1, max_length=300, description="What is to be found out, in one line.")
    status: Literal["pending", "in_progress", "completed"] = "pending"


class TodoArgs(ToolArgs):
    task: str = Field(default="", max_length=500, description="The whole question, in one line.")
    steps: list[TodoStep] = Field(min_length=1, max_length=12, description="The whole plan, in order, every time.")


class TodoWrite(Tool):
    """Write or update a plan of research steps for a question that needs several searches.

    Send the whole list each time, with the status of every step. Plan what to look up, not how to phrase the answer.
    """

    name = "todo_write"
    label = ToolText("Make a plan", "制定计划")
    description = ToolText("Writes a plan of research steps and keeps it up to date.", "创建结构化的研究计划")
    Args = TodoArgs
    timeout_s = 1.0
    is_for_plans = True
    brings = "nothing"

    async def run(self, ctx: ToolContext, args: TodoArgs) -> ToolOutput:
        marks = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
        lines = [f"{number}. {marks[step.status]} {step.description}" for number, step in enumerate(args.steps, 1)]
        done = sum(step.status == "completed" for step in args.steps)
        return ToolOutput(
            "\n".join([f"The plan has {len(args.steps)} steps, {done} of them done.", *lines]),
            {
                "display_type": "plan",
                "task": args.task,
                "steps": [step.model_dump() for step in args.steps],
                "total_steps": len(args.steps),
                "completed_steps": done,
            },
        )


add_tool(TodoWrite())

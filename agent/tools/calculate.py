"""Calculate exactly."""

from pydantic import Field

from agent.arithmetic.evaluate import LENGTH, Unworkable, evaluate_expression, format_value
from agent.run_state.state import State
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolMistake, ToolOutput, ToolText, add_tool


class CalculateArgs(ToolArgs):
    expression: str = Field(
        min_length=1,
        max_length=LENGTH,
        description="(1200 + 350) * 12, 15% of 2300, 3.5 GiB to MB, 2026-03-01 + 90 days, workdays(2026-01-01, 2026-01-31)",
    )


class Calculate(Tool):
    """Work out arithmetic exactly: + - * / // % **, percentages, round, min, max, sum, avg, sqrt; units with `to`; dates with days and
    weeks.
    """

    name = "calculate"
    label = ToolText("Calculate", "计算")
    description = ToolText("Works out arithmetic, units and dates exactly.", "精确计算四则运算、单位换算与日期")
    Args = CalculateArgs
    timeout_s = 2.0
    node = State.CALCULATE

    async def run(self, ctx: ToolContext, args: CalculateArgs) -> ToolOutput:
        try:
            value = format_value(evaluate_expression(args.expression))
        except Unworkable as error:
            raise ToolMistake(str(error)) from None
        return ToolOutput(
            f"{args.expression} = {value}",
            {"display_type": "calculation", "expression": args.expression, "result": value},
        )


add_tool(Calculate())

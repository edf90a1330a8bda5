"""Read a skill: its instructions, or a file beside them."""

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.attribution.answer_language import answer_language_of
from agent.prompting import load_prompt
from agent.run_state.run import Run
from agent.skills.catalog import find_version_in_use, is_any_skill_enabled, list_offered_skills
from agent.skills.packages import MANIFEST, unpack_version_files
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolMistake, ToolOutput, ToolText
from audit.actions import Action
from authz.principal import Principal


class ReadSkillArgs(ToolArgs):
    skill_name: str = Field(min_length=1, max_length=64, description="Name of the skill, as you were told it.")
    file_path: str = Field(
        default="",
        max_length=200,
        description="A file of the skill, as its instructions name it; leave it out for the instructions.",
    )


class ReadSkill(Tool):
    """Read the instructions of a skill that you were told of, or a file that they name.

    Read a skill before you follow it or run one of its scripts; it says which scripts there are and what they want.
    """

    name = "read_skill"
    label = ToolText("Read a skill", "读取技能")
    description = ToolText("Reads the instructions of a reviewed skill.", "读取经过审核的技能说明")
    Args = ReadSkillArgs
    is_default = False

    def why_not(self, principal: Principal) -> ToolText | None:
        return None if is_any_skill_enabled() else ToolText("No skill is switched on.", "没有启用任何技能。")

    def briefing(self, run: Run) -> str | None:
        skills = [f"- {name}: {description}" for name, description in list_offered_skills(run.profile.name).items()]
        return "\n".join([run.use(load_prompt("skills", answer_language_of(run))), *skills]) if skills else None

    async def run(self, ctx: ToolContext, args: ReadSkillArgs) -> ToolOutput:
        text, paths = await sync_to_async(_read_skill_text)(ctx, args)
        return ToolOutput(
            text if args.file_path else "\n".join([text, "", "Files of this skill:", *paths]),
            {"display_type": "skill", "skill_name": args.skill_name, "file_path": args.file_path or MANIFEST},
            moves_on=True,
        )


def _read_skill_text(ctx: ToolContext, args: ReadSkillArgs) -> tuple[str, list[str]]:
    version = find_version_in_use(ctx.profile, args.skill_name)
    text = version.instructions
    if args.file_path:
        content = unpack_version_files(bytes(version.archive), version.sha256).get(args.file_path)
        if content is None:
            raise ToolMistake(f"The skill has no file of this path. It has: {', '.join(version.paths)}.")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise ToolMistake("This file is no text.") from None
    detail: dict[str, object] = {"version": version.number, "sha256": version.sha256}
    ctx.record(ctx.principal, Action.SKILL_READ, version.skill, run_id=ctx.run_id, detail=detail)
    return text, list(version.paths)

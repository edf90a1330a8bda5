from agent.skills import grounds
from agent.skills.execute_skill_script import ExecuteSkillScript
from agent.skills.read_skill import ReadSkill
from agent.tools.base import add_tool
from business.results.visibility import query_sources


def register() -> None:
    """Register the tools for skills, and the visibility check for script output."""
    add_tool(ReadSkill())
    add_tool(ExecuteSkillScript())
    query_sources.add("agent.skills", grounds.select_visible_outputs)

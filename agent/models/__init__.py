"""Models of the agent, one file per subject."""

from agent.models.chat_platforms import ChatBot, ChatMessage
from agent.models.conversations import (
    AnswerFault,
    Citation,
    Message,
    MessageRole,
    QueryCitation,
    Rating,
    Session,
    Share,
    WebCitation,
)
from agent.models.language_models import DayOfUse, LanguageModel, UnitBudget
from agent.models.mcp_services import McpService, ToolApproval
from agent.models.privacy import ConversationView, PrivacySettings
from agent.models.profiles import AgentProfile
from agent.models.question_sets import Case, CaseResult, QuestionSet, SetRun
from agent.models.skills import MadeFile, Skill, SkillVersion
from agent.models.verified_answers import Flag, VerifiedAnswer, VerifiedCitation, VerifiedSource, VerifiedWording
from agent.models.web_search import WebHost, WebSearchProvider

__all__ = [
    "AgentProfile",
    "AnswerFault",
    "Case",
    "CaseResult",
    "ChatBot",
    "ChatMessage",
    "Citation",
    "ConversationView",
    "DayOfUse",
    "Flag",
    "LanguageModel",
    "MadeFile",
    "McpService",
    "Message",
    "MessageRole",
    "PrivacySettings",
    "QueryCitation",
    "QuestionSet",
    "Rating",
    "Session",
    "SetRun",
    "Share",
    "Skill",
    "SkillVersion",
    "ToolApproval",
    "UnitBudget",
    "VerifiedAnswer",
    "VerifiedCitation",
    "VerifiedSource",
    "VerifiedWording",
    "WebCitation",
    "WebHost",
    "WebSearchProvider",
]

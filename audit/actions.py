"""The vocabulary of the audit log: one dotted name for each thing that is recorded, with a text for people."""

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    SIGNED_IN = "auth.signed_in", _("signed in")
    SIGN_IN_FAILED = "auth.sign_in_failed", _("failed to sign in")
    SIGNED_OUT = "auth.signed_out", _("signed out")
    PROVIDER_LINKED = "auth.provider_linked", _("linked a sign-in provider")
    PROVIDER_UNLINKED = "auth.provider_unlinked", _("unlinked a sign-in provider")
    SIGN_IN_TESTED = "auth.sign_in_tested", _("tested a company sign-in")
    MFA_ADDED = "mfa.added", _("added a second factor")
    MFA_REMOVED = "mfa.removed", _("removed a second factor")
    MFA_FAILED = "mfa.failed", _("failed the second factor")
    PASSWORD_CHANGED = "user.password_changed", _("changed a password")
    USER_CREATED = "user.created", _("created an account")
    USER_CHANGED = "user.changed", _("changed an account")
    USER_ENABLED = "user.enabled", _("enabled an account")
    USER_DISABLED = "user.disabled", _("disabled an account")
    USER_DELETED = "user.deleted", _("deleted an account")
    TOKEN_ISSUED = "token.issued", _("issued an API token")
    TOKEN_REVOKED = "token.revoked", _("revoked an API token")
    TOKEN_USED = "token.used", _("used an API token")
    TOKEN_REFUSED = "token.refused", _("was refused with an API token")
    SERVICE_ACCOUNT_CREATED = "service_account.created", _("created a service account")
    SERVICE_ACCOUNT_ENABLED = "service_account.enabled", _("enabled a service account")
    SERVICE_ACCOUNT_DISABLED = "service_account.disabled", _("disabled a service account")

    ORG_UNIT_CREATED = "org_unit.created", _("created an org unit")
    ORG_UNIT_CHANGED = "org_unit.changed", _("changed an org unit")
    ORG_UNIT_MOVED = "org_unit.moved", _("moved an org unit")
    ORG_UNIT_DELETED = "org_unit.deleted", _("deleted an org unit")
    ROLE_CREATED = "role.created", _("created a role")
    ROLE_CHANGED = "role.changed", _("changed a role")
    ROLE_DELETED = "role.deleted", _("deleted a role")
    GROUP_CREATED = "group.created", _("created a group")
    GROUP_CHANGED = "group.changed", _("changed a group")
    GROUP_DELETED = "group.deleted", _("deleted a group")
    MEMBER_ADDED = "member.added", _("added a member")
    MEMBER_REMOVED = "member.removed", _("removed a member")
    CLAIM_MAPPED = "claim.mapped", _("mapped a group claim")
    CLAIM_UNMAPPED = "claim.unmapped", _("took back the mapping of a group claim")

    GRANT_GIVEN = "grant.given", _("gave a right")
    GRANT_REVOKED = "grant.revoked", _("took back a right")
    DENIAL_GIVEN = "denial.given", _("denied a right")
    DENIAL_REMOVED = "denial.removed", _("took back a denial")
    INHERITANCE_BROKEN = "inheritance.broken", _("broke inheritance")
    INHERITANCE_RESTORED = "inheritance.restored", _("restored inheritance")
    DISCOVERABLE_SET = "discoverable.set", _("made a folder discoverable")
    DISCOVERABLE_CLEARED = "discoverable.cleared", _("made a folder undiscoverable")
    ACCESS_REQUESTED = "access.requested", _("asked for access")
    ACCESS_GRANTED = "access.granted", _("granted a request for access")
    ACCESS_REFUSED = "access.refused", _("refused a request for access")

    ACCESS_EXPLAINED = "access.explained", _("had access explained")
    ACCESS_PREVIEWED = "access.previewed", _("viewed as someone else")
    ACCESS_EXPORTED = "access.exported", _("exported effective access")
    DATA_EXPORTED = "data.exported", _("exported everything")
    CHANGE_PREVIEWED = "access.change_previewed", _("previewed a change of rights")
    ANSWER_REPLAYED = "answer.replayed", _("replayed an answer")

    WEBHOOK_CHANGED = "webhook.changed", _("changed a webhook")
    KNOWLEDGE_BASE_CREATED = "knowledge_base.created", _("created a knowledge base")
    KNOWLEDGE_BASE_CHANGED = "knowledge_base.changed", _("changed a knowledge base")
    GRAPH_MERGED = "graph.merged", _("said that two names are one")
    GRAPH_SEPARATED = "graph.separated", _("said that two names are not one")
    GRAPH_REFUSED = "graph.refused", _("took a relation out of a knowledge graph")
    GRAPH_RESTORED = "graph.restored", _("put a relation back into a knowledge graph")
    FOLDER_CREATED = "folder.created", _("created a folder")
    FOLDER_RENAMED = "folder.renamed", _("renamed a folder")
    FOLDER_MOVED = "folder.moved", _("moved a folder")
    FOLDER_DELETED = "folder.deleted", _("deleted a folder")

    DOCUMENT_UPLOADED = "document.uploaded", _("uploaded a document")
    DOCUMENT_VERSION_ADDED = "document.version_added", _("added a version of a document")
    DOCUMENT_PUBLISHED = "document.published", _("published a version of a document")
    DOCUMENT_FAILED = "document.failed", _("could not ingest a document")
    DOCUMENT_RETRIED = "document.retried", _("started ingestion again")
    DOCUMENT_REREAD = "document.reread", _("had a document read again")
    DOCUMENT_CUT = "document.cut", _("split a document into other passages")
    DOCUMENT_DOWNLOADED = "document.downloaded", _("downloaded a document")
    DOCUMENT_OPENED = "document.opened", _("opened a document")
    DOCUMENT_MOVED = "document.moved", _("moved a document")
    DOCUMENT_CHANGED = "document.changed", _("changed the details of a document")
    DOCUMENT_CONFIRMED = "document.confirmed", _("said that a document is still correct")
    DOCUMENT_TRASHED = "document.trashed", _("put a document into the trash")
    DOCUMENT_RESTORED = "document.restored", _("took a document out of the trash")
    VERSION_RESTORED = "document.version_restored", _("brought back an older version of a document")
    REVIEW_REMINDED = "document.review_reminded", _("was reminded by mail to review documents")
    VERSION_APPROVED = "document.version_approved", _("approved a version of a document")
    DOCUMENT_DELETED = "document.deleted", _("deleted a document")
    DOCUMENT_ERASED = "document.erased", _("counted what is left of a deleted document")
    DOCUMENT_RENAMED = "document.renamed", _("renamed a document")
    DOCUMENT_WITHDRAWN = "document.withdrawn", _("withdrew a document")
    DOCUMENT_REINSTATED = "document.reinstated", _("use a withdrawn document in answers again")
    DOCUMENT_SOURCE_CHANGED = "document_source.changed", _("changed a source of documents")
    DOCUMENT_SOURCE_DELETED = "document_source.deleted", _("deleted a source of documents")
    DOCUMENT_SOURCE_READ = "document_source.read", _("read a source of documents")
    PAGE_IMAGE_SHOWN = "document.page_image_shown", _("was shown the image of a page")
    ACCESS_DENIED = "access.denied", _("was refused")

    SEARCHED = "search.performed", _("searched")
    QUESTION_ASKED = "question.asked", _("asked a question")
    AGENT_CHANGED = "agent.changed", _("changed a model or an assistant")
    MAIL_TESTED = "server.mail_tested", _("sent a test mail")
    MODEL_TESTED = "agent.model_tested", _("tested the connection of a language model")
    LOCAL_MODEL_ALLOWED = "agent.local_model_allowed", _("allowed a language model on this machine")
    CHAT_BOT_TESTED = "agent.chat_bot_tested", _("tested a bot in a chat platform")
    QUESTION_ANSWERED = "question.answered", _("received an answer")
    ANSWER_RATED = "answer.rated", _("rated an answer")
    RATINGS_READ = "answer.ratings_read", _("read what people said about answers")
    EVALUATION_CHANGED = "evaluation.changed", _("changed an evaluation set")
    EVALUATION_STARTED = "evaluation.started", _("started a run over an evaluation set")
    QUESTIONS_READ = "question.unanswered_read", _("read questions that had no answer")
    EVIDENCE_SHOWN = "evidence.shown", _("was shown evidence")
    EVIDENCE_FILTERED = "evidence.filtered", _("had evidence withheld")
    SQL_EXECUTED = "sql.executed", _("ran a query on business data")
    SQL_REFUSED = "sql.refused", _("was refused a query on business data")
    SOURCE_CHECKED = "source.checked", _("checked the connection of a data source")
    SQL_CHECKED = "sql.checked", _("checked a statement with someone's rights")
    SQL_CONFIRMED = "sql.confirmed", _("confirmed a query as the right one")  # until 2026-11; now VERIFIED_SAVED
    SQL_UNCONFIRMED = "sql.unconfirmed", _("took back a confirmed query")  # now VERIFIED_RETIRED
    VERIFIED_SAVED = "verified_answer.saved", _("verified an answer")
    VERIFIED_CONFIRMED = "verified_answer.confirmed", _("confirmed a verified answer")
    VERIFIED_FLAGGED = "verified_answer.flagged", _("asked for the review of a verified answer")
    VERIFIED_RETIRED = "verified_answer.retired", _("deleted a verified answer")
    VERIFIED_EXPORTED = "verified_answer.exported", _("exported verified answers")
    RESULT_EXPORTED = "sql.result_exported", _("downloaded the result of a query")
    QUERY_SAVED = "query.saved", _("saved a question to business data")
    QUERY_SHARED = "query.shared", _("shared a saved question")
    QUERY_UNSHARED = "query.unshared", _("stopped sharing a saved question")
    QUERY_DELETED = "query.deleted", _("deleted a saved question")
    SANDBOXES_REMOVED = "sql.walls_removed", _("removed unused database roles")
    WEB_SEARCHED = "web.searched", _("searched the web")
    WEB_FETCHED = "web.fetched", _("read pages of the web")
    WEB_SETTING_CHANGED = "web.setting_changed", _("changed what may be asked of the web")
    WEB_SEARCH_TESTED = "web.search_tested", _("tested a search of the web")
    TOOL_CALLED = "tool.called", _("called a tool")
    APPROVAL_ASKED = "approval.asked", _("was asked to allow a call of a tool outside")
    APPROVAL_DECIDED = "approval.decided", _("decided on a call of a tool outside")
    SKILL_ADDED = "skill.added", _("uploaded a version of a skill")
    SKILL_REVIEWED = "skill.reviewed", _("reviewed a version of a skill")
    SKILL_SWITCHED = "skill.switched", _("switched a skill on or off")
    SKILL_BOUND = "skill.bound", _("chose the assistants of a skill")
    SKILL_DELETED = "skill.deleted", _("deleted a skill")
    SKILL_READ = "skill.read", _("was given a skill to read")
    SKILL_SCRIPT_RUN = "skill.script_run", _("ran a script of a skill")
    SKILL_FILE_DOWNLOADED = "skill.file_downloaded", _("downloaded a file that a script made")
    CONVERSATION_READ = "conversation.read", _("read a conversation")
    CONVERSATION_FILED = "conversation.filed", _("named or filed a conversation")
    CONVERSATION_SHARED = "conversation.shared", _("shared a conversation")
    CONVERSATION_UNSHARED = "conversation.unshared", _("ended the sharing of a conversation")
    CONVERSATION_EXPORTED = "conversation.exported", _("exported a conversation")
    CONVERSATION_DELETED = "conversation.deleted", _("deleted a conversation")
    SETTING_CHANGED = "setting.changed", _("changed a setting")

    AUDIT_READ = "audit.read", _("read the audit log")
    AUDIT_EXPORTED = "audit.exported", _("exported the audit log")
    AUDIT_PURGED = "audit.purged", _("purged old audit entries")
    AUDIT_KEY_MADE = "audit.key_made", _("created a key that signs checkpoints")
    HOLD_PLACED = "hold.placed", _("placed a legal hold")
    HOLD_RELEASED = "hold.released", _("released a legal hold")
    PERSON_ERASED = "person.erased", _("erased a person's names and addresses")


class Outcome(models.TextChoices):
    ALLOW = "allow", _("allowed")
    DENY = "deny", _("denied")
    FILTERED = "filtered", _("filtered")
    ERROR = "error", _("error")


class How(models.TextChoices):
    """In which way a document was shown. READ: an answer's search found it, and the answer did not quote it."""

    QUOTED = "quoted", _("Quoted in an answer")
    PASSAGE = "passage", _("Passage shown")
    OPENED = "opened", _("Page opened")
    REREAD = "reread", _("Conversation read again")
    DOWNLOADED = "downloaded", _("Downloaded")
    EXPORTED = "exported", _("Exported")
    SHARED = "shared", _("Conversation shared")
    REPLAYED = "replayed", _("Answer replayed")
    READ = "read", _("Found, not quoted")


SHOWING: dict[str, How] = {
    Action.QUESTION_ANSWERED: How.QUOTED,
    Action.EVIDENCE_SHOWN: How.PASSAGE,
    Action.SEARCHED: How.PASSAGE,
    Action.DOCUMENT_OPENED: How.OPENED,
    Action.PAGE_IMAGE_SHOWN: How.OPENED,
    Action.CONVERSATION_READ: How.REREAD,
    Action.DOCUMENT_DOWNLOADED: How.DOWNLOADED,
    Action.SKILL_FILE_DOWNLOADED: How.DOWNLOADED,
    Action.CONVERSATION_EXPORTED: How.EXPORTED,
    Action.CONVERSATION_SHARED: How.SHARED,
    Action.ANSWER_REPLAYED: How.REPLAYED,
}
"""The actions that show documents to whoever acts; `audit.shown` finds the documents in their entries."""

GROUPS: tuple[tuple[Promise, tuple[str, ...]], ...] = (  # by the first part of a name
    (_("Sign-in and accounts"), ("auth", "mfa", "user", "token", "service_account")),
    (_("Units, roles and groups"), ("org_unit", "role", "group", "member", "claim")),
    (_("Rights"), ("grant", "denial", "inheritance", "discoverable", "access")),
    (_("Bases and folders"), ("knowledge_base", "folder", "graph", "webhook", "document_source")),
    (_("Documents"), ("document", "evidence", "search")),
    (_("Questions and answers"), ("question", "answer", "verified_answer", "evaluation")),
    (_("Conversations"), ("conversation",)),
    (_("Business data"), ("sql", "query", "source")),
    (_("Assistants, tools and the web"), ("agent", "tool", "approval", "skill", "web")),
    (_("Audit log and system"), ("audit", "data", "hold", "person", "setting", "server")),
)


def list_actions_by_group() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the vocabulary as (group, [(action, text)]), each group by its texts."""
    return [
        (
            str(name),
            sorted(
                ((action.value, str(action.label)) for action in Action if action.value.partition(".")[0] in first),
                key=lambda choice: choice[1],
            ),
        )
        for name, first in GROUPS
    ]

"""The pool of seats for each route (quick pages, slow work, exports), and the share of a pool that one client may hold.

Every route is here by its name; a test fails for one that is not. Until then it counts as slow, so that it takes no seat of a page.
"""

from collections.abc import Hashable
from typing import Final

from copilot_site.lib.load import web_process
from copilot_site.lib.load.fair_queue import FairQueue
from copilot_site.lib.load.seats import SeatShare

PAGE, TRANSFER, EXPORT = "pages", "transfers", "exports"

# Tens of milliseconds each: a few rows are read or written, nothing is parsed, embedded, queried or asked of another server. Signing in
# with an issuer asks one; it must not wait behind transfers, and has a deadline.
PAGES: Final = """
healthz readyz metrics chat palette palette-places kept-questions conversation-new conversations approval conversation
verified-answers verified-answer verified-answer-new who-sees privacy source-opened document-confirm
conversation-at conversation-change conversation-share conversation-unshare shared conversation-delete message run feedback
attachments attachment-remove attachment-where attachment-file-into chat-bot-events query-table query-correct
sources-of-documents source-of-documents-new source-of-documents source-of-documents-run source-of-documents-hook
source-of-documents-delete source-hook library base-new find trash trash-restore base folder folder-progress folder-new
folder-rename folder-move document document-graph graph-entity fields-of-base passages-of-base graph-of-base graph-merge
graph-separate graph-refuse document-progress document-retry document-delete document-facts document-metadata document-move
version-approve source login account_login logout password account_reauthenticate mfa_authenticate mfa_reauthenticate
openid_connect_login openid_connect_callback socialaccount_login_cancelled mfa_index mfa_activate_totp mfa_deactivate_totp
mfa_view_recovery_codes mfa_generate_recovery_codes tokens token-revoke set_language rights-tree rights-several rights-place
rights-change rights-why access-requests access-request-decide people person membership ingestion ingestion-again my-requests
ask-for-access see-as-choose see-as answers replay ratings evaluations evaluation evaluation-runs evaluate-answer skills
skill language-models language-model-add language-model mcp-disconnect explore-save saved-query-share saved-query-delete check-sql
source-connection source-layer source-draft
source-table server-connections slow-work roles data-sources search-settings expert
authz.admin_pages.on_site admin:index admin:login admin:logout
admin:password_change_done admin:autocomplete admin:jsi18n admin:view_on_site admin:django.views.generic.base.RedirectView
admin:authz_serviceaccount_token admin:audit_entry_run admin:audit_entry_export admin:app_list
admin:django.contrib.admin.sites.AdminSite.catch_all_view api:knowledge-bases api:knowledge-base api:folders api:folder
api:folder-move api:folder-rename api:document-sources api:document-source api:documents api:document
api:knowledge-base-fields api:document-source-runs api:document-origin api:document-move api:document-metadata-values
api:document-status api:document-versions api:document-chunks api:document-retry api:explain api:access-requests api:sessions
api:verified-answers api:verified-answer api:verified-again
api:session api:messages api:query-csv api:attachments api:attachment api:feedback api:stop-session api:continue-stream
api:knowledge-chat api:agent-chat api:see-as-knowledge-bases api:see-as-folders api:see-as-documents api:tool-document-info
api:tool-knowledge-chunks api:agent-tools api:agent-config api:audit-entries api:audit-verifier api:tokens api:token api:docs
api:copilot_site.api.NoSuchAddress openai-models openai-model openai-chat openai-responses agent.mcp_server.oauth.metadata mcp-metadata
"""
# Work on whole files, many rows or many texts, questions to data sources, and whatever waits for another server.
TRANSFERS: Final = """
folder-upload folder-delete document-replace version-restore versions-compare document-download page-image picture
trash-erase documents-several search-test conversation-export made-file gaps shown palette-passages
model-try profile-try web-search-try
verified-answers-export verified-answers-import
chat-bot-try mcp-connect mcp-callback query-run-again explore explore-table saved-query source-try
source-layer-file sign-in-try rights-matrix rights-export system-health api:folder-documents
api:document-download api:document-source-try api:knowledge-search api:see-as-knowledge-search api:see-as-answer
api:rights-matrix api:rights-preview api:effective-access api:query-again api:query-correction api:attachment-file
api:file-of-answer api:schema openai-embeddings scim mcp
"""
SLOW_POSTS: Final = """
verified-answer verified-answer-new api:verified-answers api:verified-answer
passages-of-base source-of-documents source-of-documents-new attachments evaluation skills skill see-as query-correct
check-sql source-connection source-layer source-draft source-table rights-several server-connections api:document-sources
api:attachments admin:agent_chatbot_add admin:agent_chatbot_change admin:agent_mcpservice_add admin:agent_mcpservice_change
admin:agent_mcpservice_changelist admin:business_datasource_add admin:business_datasource_change
admin:knowledge_webhook_changelist admin:knowledge_webhookdelivery_changelist
"""
EXPORTS: Final = "api:audit-export"
LISTS: Final = (
    (PAGE, "", PAGES),
    (TRANSFER, "", TRANSFERS),
    (TRANSFER, "POST ", SLOW_POSTS),
    (EXPORT, "", EXPORTS),
    (EXPORT, "POST ", "admin:audit_entry_export"),
)
# Django makes these for each model of the admin
OF_MODELS: Final = ("_changelist", "_add", "_change", "_delete", "_history")

TRANSFERS_PER_PERSON: Final = 1  # of 4: each keeps a processor, a disk or another server busy
PAGES_PER_PERSON: Final = 2  # a page and what it fetches beside itself
PER_ADDRESS: Final = 1  # of all together that come from one address without showing who they are

# name of a route, or "POST " and its name where only that takes long → name of a pool
DECLARED: Final = {f"{method}{name}": pool for pool, method, names in LISTS for name in names.split()}


def find_declared_pool(method: str, route: str) -> str | None:
    """Return the pool of a route, by its name with namespaces; None for an undeclared one."""
    if found := DECLARED.get(f"{method} {route}") or DECLARED.get(route):
        return found
    return PAGE if route.startswith("admin:") and route.endswith(OF_MODELS) else None


def find_pool(method: str, route: str) -> str:
    """Return the pool that a request waits for. route: "" for an unknown address."""
    return find_declared_pool(method, route) or (TRANSFER if route else PAGE)


def build_shares() -> dict[str, SeatShare]:
    """Return the shares of one process. A page is not worth waiting for longer than 15 s; a transfer is.

    One person holds less than a pool, their anonymous requests included. A party is a person's id or an address.
    """

    def queue(places: int, of_person: int, most_waiting: int) -> FairQueue:
        def own_places(party: Hashable) -> int:
            return min(of_person, places - PER_ADDRESS - 1) if isinstance(party, int) else PER_ADDRESS

        return FairQueue(places=places, own_places=own_places, most_waiting=most_waiting)

    return {
        PAGE: SeatShare(queue(web_process.PAGES, PAGES_PER_PERSON, 400), wait_s=15.0),
        TRANSFER: SeatShare(queue(web_process.TRANSFERS, TRANSFERS_PER_PERSON, 200), wait_s=60.0),
        EXPORT: SeatShare(queue(web_process.EXPORTS, 1, 20), wait_s=60.0),
    }

from django.urls import path

from agent.rest import attachments, impersonation, queries, sessions, streams, tools, verified_answers
from authz.rest.views import ResourceRouter

router = ResourceRouter()
router.register("sessions", sessions.Sessions, "session")

urlpatterns = [
    *router.urls,
    path("verified-answers", verified_answers.VerifiedAnswers.as_view(), name="verified-answers"),
    path("verified-answers/<uuid:verified_id>", verified_answers.OneVerifiedAnswer.as_view(), name="verified-answer"),
    path("verified-answers/<uuid:verified_id>/verify", verified_answers.VerifyAgain.as_view(), name="verified-again"),
    path("sessions/<uuid:pk>/messages", sessions.Messages.as_view(), name="messages"),
    path(
        "sessions/<uuid:pk>/messages/<uuid:message_id>/queries/<int:number>/csv",
        queries.ResultFile.as_view(),
        name="query-csv",
    ),
    path(
        "sessions/<uuid:pk>/messages/<uuid:message_id>/queries/<int:number>/again",
        queries.RunAgain.as_view(),
        name="query-again",
    ),
    path(
        "sessions/<uuid:pk>/messages/<uuid:message_id>/queries/<int:number>/correction",
        queries.CorrectResult.as_view(),
        name="query-correction",
    ),
    path("sessions/<uuid:pk>/attachments", attachments.Attachments.as_view(), name="attachments"),
    path("sessions/<uuid:pk>/attachments/<uuid:document_id>", attachments.OneAttachment.as_view(), name="attachment"),
    path(
        "sessions/<uuid:pk>/attachments/<uuid:document_id>/file",
        attachments.FileAttachment.as_view(),
        name="attachment-file",
    ),
    path("sessions/<uuid:pk>/files/<uuid:file_id>", attachments.FileOfAnswer.as_view(), name="file-of-answer"),
    path("sessions/<uuid:session_id>/feedback", sessions.Feedback.as_view(), name="feedback"),
    path("sessions/<uuid:session_id>/stop", streams.StopSession.as_view(), name="stop-session"),
    path("sessions/continue-stream/<uuid:session_id>", streams.ContinueStream.as_view(), name="continue-stream"),
    path("knowledge-chat/<uuid:session_id>", streams.KnowledgeChat.as_view(), name="knowledge-chat"),
    path("agent-chat/<uuid:session_id>", streams.AgentChat.as_view(), name="agent-chat"),
    path("see-as/knowledge-bases", impersonation.KnowledgeBasesAs.as_view(), name="see-as-knowledge-bases"),
    path("see-as/folders", impersonation.FoldersAs.as_view(), name="see-as-folders"),
    path("see-as/documents", impersonation.DocumentsAs.as_view(), name="see-as-documents"),
    path("see-as/knowledge-search", impersonation.KnowledgeSearchAs.as_view(), name="see-as-knowledge-search"),
    path("see-as/answer", impersonation.AnswerAs.as_view(), name="see-as-answer"),
    path("agent-tools/get_document_info", tools.DocumentInfo.as_view(), name="tool-document-info"),
    path("agent-tools/list_knowledge_chunks", tools.KnowledgeChunks.as_view(), name="tool-knowledge-chunks"),
    path("agent-tools", tools.AgentTools.as_view(), name="agent-tools"),
    path("tenants/kv/agent-config", tools.TenantAgentConfig.as_view(), name="agent-config"),
]

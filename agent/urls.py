from django.urls import URLPattern, path

from agent.conversations import attachment_views
from agent.conversations import views as conversation_views
from agent.pages import chat_views as views
from agent.pages import verified_views
from agent.pages.consumers import ChatConsumer
from agent.palette import views as palette_views
from agent.parts import import_part_modules
from agent.query_results import views as query_views

QUERY = "chat/<uuid:session_id>/messages/<uuid:message_id>/queries/<int:number>"

urlpatterns = [
    path("palette/", palette_views.palette, name="palette"),
    path("palette/passages/", palette_views.passages, name="palette-passages"),
    path("palette/places/", palette_views.places, name="palette-places"),
    path("library/questions/", views.kept_questions, name="kept-questions"),
    path("library/verified/", verified_views.answers, name="verified-answers"),
    path("library/verified/new/", verified_views.new, name="verified-answer-new"),
    path("library/verified/export.csv", verified_views.export, name="verified-answers-export"),
    path("library/verified/import/", verified_views.import_file, name="verified-answers-import"),
    path("library/verified/<uuid:verified_id>/", verified_views.edit, name="verified-answer"),
    path("chat/new/", views.begin, name="conversation-new"),
    path("chat/all/", views.conversations, name="conversations"),
    path("chat/who-sees/", conversation_views.who_sees, name="who-sees"),
    path("chat/approvals/<uuid:approval_id>/", views.approval, name="approval"),
    path("chat/<uuid:session_id>/", views.chat, name="conversation"),
    path("chat/<uuid:session_id>/at/<uuid:message_id>/", views.chat, name="conversation-at"),
    path("chat/<uuid:session_id>/change/", conversation_views.change, name="conversation-change"),
    path("chat/<uuid:session_id>/at/<uuid:message_id>/share/", conversation_views.share_it, name="conversation-share"),
    path(
        "chat/<uuid:session_id>/at/<uuid:message_id>/export/<slug:form>/",
        conversation_views.export_it,
        name="conversation-export",
    ),
    path("chat/<uuid:session_id>/shares/<uuid:share_id>/end/", conversation_views.unshare, name="conversation-unshare"),
    path("shared/<uuid:share_id>/", conversation_views.shared, name="shared"),
    path("chat/<uuid:session_id>/delete/", views.delete, name="conversation-delete"),
    path("chat/<uuid:session_id>/messages/<uuid:message_id>/", views.message, name="message"),
    path("chat/<uuid:session_id>/messages/<uuid:message_id>/run/", views.run, name="run"),
    path("chat/<uuid:session_id>/messages/<uuid:message_id>/feedback/", views.feedback, name="feedback"),
    path("chat/<uuid:session_id>/messages/<uuid:message_id>/opened/", views.opened, name="source-opened"),
    path("chat/<uuid:session_id>/attachments/", attachment_views.attachments, name="attachments"),
    path(
        "chat/<uuid:session_id>/attachments/<uuid:document_id>/remove/",
        attachment_views.remove,
        name="attachment-remove",
    ),
    path(
        "chat/<uuid:session_id>/attachments/<uuid:document_id>/file/",
        attachment_views.where_to_file,
        name="attachment-where",
    ),
    path(
        "chat/<uuid:session_id>/attachments/<uuid:document_id>/file-into/",
        attachment_views.file_it,
        name="attachment-file-into",
    ),
    path("chat/<uuid:session_id>/files/<uuid:file_id>/", conversation_views.file_download, name="made-file"),
    path(f"{QUERY}/table.csv", query_views.download, name="query-table"),
    path(f"{QUERY}/again/", query_views.again, name="query-run-again"),
    path(f"{QUERY}/correct/", query_views.correction, name="query-correct"),
    *(url for part in import_part_modules("urls") for url in part.urlpatterns),
]


websocket_urlpatterns: list[URLPattern] = [path("ws/chat/<uuid:session_id>/", ChatConsumer.as_asgi())]

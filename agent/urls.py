from django.urls import path

from agent import views

urlpatterns = [
    path("chat/new/", views.begin, name="conversation-new"),
    path("chat/<uuid:session_id>/", views.chat, name="conversation"),
    path("chat/<uuid:session_id>/delete/", views.delete, name="conversation-delete"),
    path("chat/<uuid:session_id>/messages/<uuid:message_id>/", views.message, name="message"),
]

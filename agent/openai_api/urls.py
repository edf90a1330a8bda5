from django.urls import path

from agent.openai_api import views

urlpatterns = [
    path("v1/models", views.Models.as_view(), name="openai-models"),
    path("v1/models/<path:model>", views.OneModel.as_view(), name="openai-model"),
    path("v1/chat/completions", views.ChatCompletions.as_view(), name="openai-chat"),
    path("v1/responses", views.Responses.as_view(), name="openai-responses"),
    path("v1/embeddings", views.Embeddings.as_view(), name="openai-embeddings"),
]

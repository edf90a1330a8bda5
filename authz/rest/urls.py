from django.urls import path

from authz.rest.tokens import TokenDetail, Tokens

urlpatterns = [
    path("tokens", Tokens.as_view(), name="tokens"),
    path("tokens/<int:pk>", TokenDetail.as_view(), name="token"),
]

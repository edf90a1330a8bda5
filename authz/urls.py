from django.contrib.auth.views import LogoutView
from django.urls import path

from authz import views

urlpatterns = [
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", views.revoke, name="token-revoke"),
]

from allauth.account.views import reauthenticate
from allauth.mfa.base import views as second
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from django.contrib.auth.views import LogoutView
from django.urls import path

from authz import oidc, views
from authz.people import unit_admin
from authz.sign_in import issuer_check

# allauth's own names; only pages used here have an address
urlpatterns = [
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password"),
    path("sign-in/again/", reauthenticate, name="account_reauthenticate"),
    path("sign-in/second-factor/", second.authenticate, name="mfa_authenticate"),
    path("sign-in/again/second-factor/", second.reauthenticate, name="mfa_reauthenticate"),
    path("sign-in/with/<str:provider_id>/", oidc.begin, name="openid_connect_login"),
    path("sign-in/with/<str:provider_id>/callback/", oidc.callback, name="openid_connect_callback"),
    path("admin/roles/", unit_admin.role_list, name="roles"),
    path("admin/company-sign-ins/try/", issuer_check.try_issuer, name="sign-in-try"),
    path("sign-in/cancelled/", views.cancelled, name="socialaccount_login_cancelled"),
    path("second-factor/", second.index, name="mfa_index"),
    path("second-factor/set-up/", totp.activate_totp, name="mfa_activate_totp"),
    path("second-factor/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("second-factor/codes/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("second-factor/codes/new/", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", views.revoke, name="token-revoke"),
]

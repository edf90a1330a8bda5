from django.urls import path

from authz.rest.audit import AuditEntries, AuditExport, AuditVerifier
from authz.rest.tokens import TokenDetail, Tokens

urlpatterns = [
    path("audit/entries", AuditEntries.as_view(), name="audit-entries"),
    path("audit/export", AuditExport.as_view(), name="audit-export"),
    path("audit/verifier", AuditVerifier.as_view(), name="audit-verifier"),
    path("tokens", Tokens.as_view(), name="tokens"),
    path("tokens/<int:pk>", TokenDetail.as_view(), name="token"),
]

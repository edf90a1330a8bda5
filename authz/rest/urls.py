from django.urls import path

from authz.rest.audit import AuditEntries, AuditExport, AuditVerifier
from authz.rest.tokens import Tokens
from authz.rest.views import ResourceRouter

router = ResourceRouter()
router.register("tokens", Tokens, "token")

urlpatterns = [
    path("audit/entries", AuditEntries.as_view(), name="audit-entries"),
    path("audit/export", AuditExport.as_view(), name="audit-export"),
    path("audit/verifier", AuditVerifier.as_view(), name="audit-verifier"),
    *router.urls,
]

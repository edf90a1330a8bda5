from django.urls import path

from authz.rest.views import ResourceRouter
from knowledge.rest import bases, documents, folders, rights, search, sources

router = ResourceRouter()
router.register("knowledge-bases", bases.KnowledgeBases, "knowledge-base")
router.register("folders", folders.Folders, "folder")
router.register("sources", sources.Sources, "document-source")
router.register("documents", documents.Documents, "document")

urlpatterns = [
    *router.urls,
    path("folders/<uuid:pk>/documents", documents.FolderDocuments.as_view(), name="folder-documents"),
    path("knowledge-bases/<uuid:pk>/fields", bases.KnowledgeBaseFields.as_view(), name="knowledge-base-fields"),
    path("sources/try", sources.SourceTry.as_view(), name="document-source-try"),
    path("sources/<uuid:pk>/runs", sources.SourceRuns.as_view(), name="document-source-runs"),
    path("documents/<uuid:pk>/origin", sources.DocumentOrigin.as_view(), name="document-origin"),
    path("documents/<uuid:pk>/move", documents.DocumentMove.as_view(), name="document-move"),
    path("documents/<uuid:pk>/metadata", documents.DocumentMetadata.as_view(), name="document-metadata-values"),
    path("documents/<uuid:pk>/status", documents.DocumentStatus.as_view(), name="document-status"),
    path("documents/<uuid:pk>/versions", documents.DocumentVersions.as_view(), name="document-versions"),
    path("documents/<uuid:pk>/chunks", documents.DocumentChunks.as_view(), name="document-chunks"),
    path("documents/<uuid:pk>/download", documents.DocumentDownload.as_view(), name="document-download"),
    path("documents/<uuid:pk>/retry", documents.DocumentRetry.as_view(), name="document-retry"),
    path("explain", rights.Explain.as_view(), name="explain"),
    path("rights/preview", rights.PreviewOfChanges.as_view(), name="rights-preview"),
    path("rights/matrix", rights.RightsMatrix.as_view(), name="rights-matrix"),
    path("rights/effective-access", rights.EffectiveAccess.as_view(), name="effective-access"),
    path("access-requests", rights.AccessRequests.as_view(), name="access-requests"),
    path("knowledge-search", search.KnowledgeSearchView.as_view(), name="knowledge-search"),
]

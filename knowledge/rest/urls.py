from django.urls import path

from knowledge.rest import access_requests, bases, documents, explain, folders, rights, search

urlpatterns = [
    path("knowledge-bases", bases.KnowledgeBases.as_view(), name="knowledge-bases"),
    path("knowledge-bases/<uuid:pk>", bases.KnowledgeBaseDetail.as_view(), name="knowledge-base"),
    path("folders", folders.Folders.as_view(), name="folders"),
    path("folders/<uuid:pk>", folders.FolderDetail.as_view(), name="folder"),
    path("folders/<uuid:pk>/rename", folders.FolderRename.as_view(), name="folder-rename"),
    path("folders/<uuid:pk>/move", folders.FolderMove.as_view(), name="folder-move"),
    path("folders/<uuid:pk>/documents", documents.FolderDocuments.as_view(), name="folder-documents"),
    path("documents", documents.Documents.as_view(), name="documents"),
    path("documents/<uuid:pk>", documents.DocumentDetail.as_view(), name="document"),
    path("documents/<uuid:pk>/move", documents.DocumentMove.as_view(), name="document-move"),
    path("documents/<uuid:pk>/status", documents.DocumentStatus.as_view(), name="document-status"),
    path("documents/<uuid:pk>/versions", documents.DocumentVersions.as_view(), name="document-versions"),
    path("documents/<uuid:pk>/chunks", documents.DocumentChunks.as_view(), name="document-chunks"),
    path("documents/<uuid:pk>/download", documents.DocumentDownload.as_view(), name="document-download"),
    path("documents/<uuid:pk>/retry", documents.DocumentRetry.as_view(), name="document-retry"),
    path("explain", explain.Explain.as_view(), name="explain"),
    path("rights/preview", rights.PreviewOfChanges.as_view(), name="rights-preview"),
    path("rights/matrix", rights.RightsMatrix.as_view(), name="rights-matrix"),
    path("rights/effective-access", rights.EffectiveAccess.as_view(), name="effective-access"),
    path("access-requests", access_requests.AccessRequests.as_view(), name="access-requests"),
    path("knowledge-search", search.KnowledgeSearch.as_view(), name="knowledge-search"),
]

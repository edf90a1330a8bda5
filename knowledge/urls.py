from django.urls import path

from knowledge.graph import admin_views as graph_admin
from knowledge.graph import views as graph_views
from knowledge.pages import base_settings_views, document_views, find_views
from knowledge.pages import library_views as views
from knowledge.sources import views as source_views

urlpatterns = [
    path("admin/sources/", source_views.sources, name="sources-of-documents"),
    path("admin/sources/new/<slug:kind>/", source_views.new_source, name="source-of-documents-new"),
    path("admin/sources/<uuid:kept_id>/", source_views.one_source, name="source-of-documents"),
    path("admin/sources/<uuid:kept_id>/run/", source_views.run_now, name="source-of-documents-run"),
    path("admin/sources/<uuid:kept_id>/webhook/", source_views.new_hook, name="source-of-documents-hook"),
    path("admin/sources/<uuid:kept_id>/delete/", source_views.remove_source, name="source-of-documents-delete"),
    path("hooks/sources/<uuid:kept_id>", source_views.hook, name="source-hook"),
    path("library/", views.bases, name="library"),
    path("library/new/", views.new_base, name="base-new"),
    path("library/find/", find_views.find, name="find"),
    path("library/find/several/", find_views.several, name="documents-several"),
    path("library/search-test/", find_views.search_test, name="search-test"),
    path("library/trash/", document_views.trash, name="trash"),
    path("library/trash/<uuid:document_id>/restore/", document_views.put_back, name="trash-restore"),
    path("library/trash/<uuid:document_id>/erase/", document_views.erase, name="trash-erase"),
    path("library/<uuid:base_id>/", views.base, name="base"),
    path("library/folders/<uuid:folder_id>/", views.folder, name="folder"),
    path("library/folders/<uuid:folder_id>/progress/", views.folder_progress, name="folder-progress"),
    path("library/folders/<uuid:folder_id>/upload/", views.upload, name="folder-upload"),
    path("library/folders/<uuid:folder_id>/folders/", views.new_folder, name="folder-new"),
    path("library/folders/<uuid:folder_id>/rename/", views.change_name, name="folder-rename"),
    path("library/folders/<uuid:folder_id>/move/", views.change_place, name="folder-move"),
    path("library/folders/<uuid:folder_id>/delete/", views.remove_folder, name="folder-delete"),
    path("documents/<uuid:document_id>/", views.document, name="document"),
    path("documents/<uuid:document_id>/graph/", graph_views.of_document, name="document-graph"),
    path("graph/<uuid:entity_id>/", graph_views.of_entity, name="graph-entity"),
    path("admin/search/", base_settings_views.search_settings, name="search-settings"),
    path("admin/fields/<uuid:base_id>/", base_settings_views.fields_of_base, name="fields-of-base"),
    path("admin/passages/<uuid:base_id>/", base_settings_views.passages_of_base, name="passages-of-base"),
    path("admin/graph/<uuid:base_id>/", graph_admin.graph_of_base, name="graph-of-base"),
    path("admin/graph/<uuid:base_id>/merge/", graph_admin.merge_names, name="graph-merge"),
    path("admin/graph/<uuid:base_id>/separate/", graph_admin.separate_names, name="graph-separate"),
    path("admin/graph/<uuid:base_id>/refuse/", graph_admin.refuse_relation, name="graph-refuse"),
    path("documents/<uuid:document_id>/progress/", views.document_progress, name="document-progress"),
    path("documents/<uuid:document_id>/retry/", views.retry, name="document-retry"),
    path("documents/<uuid:document_id>/delete/", document_views.remove, name="document-delete"),
    path("documents/<uuid:document_id>/facts/", document_views.facts, name="document-facts"),
    path("documents/<uuid:document_id>/metadata/", base_settings_views.metadata, name="document-metadata"),
    path("documents/<uuid:document_id>/replace/", document_views.replace, name="document-replace"),
    path("documents/<uuid:document_id>/confirm/", document_views.confirm, name="document-confirm"),
    path("documents/<uuid:document_id>/move/", document_views.move, name="document-move"),
    path(
        "documents/<uuid:document_id>/versions/<int:version_number>/restore/",
        document_views.version_again,
        name="version-restore",
    ),
    path(
        "documents/<uuid:document_id>/versions/<int:version_number>/approve/",
        document_views.approve,
        name="version-approve",
    ),
    path(
        "documents/<uuid:document_id>/compare/<int:older>/<int:newer>/", document_views.compare, name="versions-compare"
    ),
    path("documents/<uuid:document_id>/download/", views.download, name="document-download"),
    path(
        "documents/<uuid:document_id>/versions/<int:version_number>/pages/<int:page>.png",
        views.page_image,
        name="page-image",
    ),
    path(
        "documents/<uuid:document_id>/versions/<int:version_number>/pictures/<int:number>.png",
        views.picture,
        name="picture",
    ),
    path("sources/<uuid:base_id>/<uuid:chunk_id>/", views.source, name="source"),
]

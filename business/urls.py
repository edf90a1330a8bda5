from django.urls import path

from business.explore import views as explore
from business.source_pages import draft_views, source_views, table_views

urlpatterns = [
    path("data/", explore.explore, name="explore"),
    path("data/table.csv", explore.table, name="explore-table"),
    path("data/save/", explore.save, name="explore-save"),
    path("data/saved/<uuid:saved_id>/", explore.opened_again, name="saved-query"),
    path("data/saved/<uuid:saved_id>/share/", explore.share, name="saved-query-share"),
    path("data/saved/<uuid:saved_id>/delete/", explore.delete, name="saved-query-delete"),
    path("admin/data-sources/", source_views.source_list, name="data-sources"),
    path("admin/data-sources/try/", source_views.try_source, name="source-try"),
    path("admin/data-sources/check/", source_views.check_sql, name="check-sql"),
    path("admin/data-sources/<uuid:source_id>/connection/", source_views.connection, name="source-connection"),
    path("admin/data-sources/<uuid:source_id>/layer/", source_views.layer, name="source-layer"),
    path("admin/data-sources/<uuid:source_id>/layer/draft/", draft_views.layer_draft, name="source-draft"),
    path("admin/data-sources/<uuid:source_id>/layer/table/", table_views.table, name="source-table"),
    path("admin/data-sources/<uuid:source_id>/layer.yaml", source_views.layer_file, name="source-layer-file"),
]

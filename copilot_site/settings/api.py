"""The REST API and its description."""

from copilot_site.lib.version import VERSION

REST_FRAMEWORK = {
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS is 405: the schema says what there is, and views without a serializer would fail
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "authz.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["authz.rest.parsers.BoundedJSONParser", "rest_framework.parsers.MultiPartParser"],
    "DEFAULT_PAGINATION_CLASS": "copilot_site.lib.http.pagination.CappedPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "copilot_site.lib.http.problem_details.problem_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Enterprise Knowledge Copilot",
    "DESCRIPTION": "Documents, search and conversations; each answer is limited to what the caller may read.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "GET_LIB_DOC_EXCLUDES": "copilot_site.api.undescribed",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "copilot_site.lib.http.openapi.share_problem_responses",
    ],
    "ENUM_NAME_OVERRIDES": {
        "DocumentLanguageEnum": "knowledge.rest.serializers.LANGUAGES",
        "InterfaceLanguageEnum": "agent.rest.sessions.INTERFACE_LANGUAGES",
        "FieldKindEnum": "knowledge.models.FieldKind",
        "ParseStatusEnum": "knowledge.models.ParseStatus",
        "RunStateEnum": "knowledge.models.SourceRunState",
        "StateEnum": "authz.models.RequestState",
        "RightEnum": "authz.permissions.Right",
        "StageStatusEnum": "knowledge.models.StageStatus",
        "StageNameEnum": "knowledge.models.StageName",
        "StopReasonEnum": "agent.events.StopReason",
    },
}

"""An identity provider that speaks SCIM, in the words of a test."""

import json
from typing import Any

from django.test import Client

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


class Program:
    def __init__(self, secret: str) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {secret}"})

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer, with its JSON as `.data`; None for a page, as the site refuses a NUL in an address."""
        content = "" if body is None else body if isinstance(body, str) else json.dumps(body)
        answer: Any = self._client.generic(
            method, f"/scim/v2/{path}", content, content_type="application/scim+json", headers=headers
        )
        answer.data = json.loads(answer.content) if answer.content and "json" in answer["Content-Type"] else None
        return answer

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def patch(self, path: str, *operations: dict[str, Any], **headers: str) -> Any:
        return self.send("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)}, **headers)

    def make_user(self, name: str, **more: Any) -> str:
        """The id of a new account."""
        answer = self.send("POST", "Users", {"schemas": [USER], "userName": name, "active": True} | more)
        assert answer.status_code == 201, answer.content
        return str(answer.data["id"])

    def make_group(self, name: str, *members: str) -> str:
        """The id of a new group."""
        body = {"schemas": [GROUP], "displayName": name, "members": [{"value": member} for member in members]}
        answer = self.send("POST", "Groups", body)
        assert answer.status_code == 201, answer.content
        return str(answer.data["id"])

    def found(self, path: str) -> set[str]:
        """Names of what a list shows."""
        return {item.get("userName") or item["displayName"] for item in self.get(path).data.get("Resources", [])}

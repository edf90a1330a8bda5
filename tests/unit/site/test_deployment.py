"""Dockerfile, Compose, Kubernetes and systemd name what exists, agree with each other, and give a process no more than it needs.

No container runs here. `make release` asks hadolint and the schemas of Kubernetes, too.
"""

import re
from typing import Any

import pytest
import yaml
from django.conf import settings

from copilot_site.config import BASE_DIR, Config
from copilot_site.embedded.serve import WORKERS
from copilot_site.lib.load.web_process import OTHERS, POOL
from copilot_site.lib.version import VERSION

COMPOSE: dict[str, dict[str, Any]] = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())["services"]
DOCKERFILE = (BASE_DIR / "Dockerfile").read_text()
KUBERNETES, SYSTEMD = BASE_DIR / "deploy" / "kubernetes", BASE_DIR / "deploy" / "systemd"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
RESOURCES: list[dict[str, Any]] = [
    element for name in KUSTOMIZATION["resources"] for element in yaml.safe_load_all((KUBERNETES / name).read_text())
]
PODS: dict[str, dict[str, Any]] = {
    resource["metadata"]["name"]: resource["spec"]["template"]["spec"]
    for resource in RESOURCES
    if "template" in resource.get("spec", {})
}
UNITS = {path.name: path.read_text() for path in SYSTEMD.rglob("*.*") if path.is_file()}
LISTED = set(re.findall(r"^#([A-Z0-9_]+)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE))
OF_OTHERS = {
    "HOME",
    "PATH",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_CACHE_DIR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
}
SIZES = {"k": 2**10, "m": 2**20, "g": 2**30}


def size(text: str) -> int:
    """Return a size like 512MB or 1g in bytes."""
    found = re.fullmatch(r"(\d+)([kmg])i?b?", text.lower())
    assert found, text
    return int(found[1]) * SIZES[found[2]]


def names_set() -> dict[str, set[str]]:
    """Return the environment names that each file sets or hands over."""
    assigned = r"^([A-Z][A-Z0-9_]+)="
    dockerfile = " ".join(re.findall(r"^ENV ((?:.*\\\n)*.*)", DOCKERFILE, re.MULTILINE))
    return {
        "Dockerfile": set(re.findall(r"(?<!\S)([A-Z_]+)=", dockerfile)),
        "systemd": {
            name
            for text in UNITS.values()
            for line in re.findall(r"^Environment=(.*)", text, re.MULTILINE)
            for name in re.findall(r"(?<!\S)([A-Z_]+)=", line)
        },
        **{path.name: set(re.findall(assigned, path.read_text(), re.MULTILINE)) for path in KUBERNETES.glob("*.env*")},
    }


def test_each_environment_name_is_one_of_env_example() -> None:
    found = names_set()
    assert len(found["Dockerfile"]) > 4
    assert len(found["systemd"]) > 2
    assert all(found.values())
    unknown = {file: sorted(names - LISTED - OF_OTHERS) for file, names in found.items()}
    assert {file: names for file, names in unknown.items() if names} == {}


@pytest.mark.parametrize("name", COMPOSE)
def test_a_container_has_limits_and_no_rights_that_it_does_not_need(name: str) -> None:
    service = COMPOSE[name]
    assert (service["read_only"], service["init"], service["cap_drop"]) == (True, True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert (size(service["mem_limit"]) > 0, service["pids_limit"] > 0) == (True, True)
    assert {"max-size", "max-file"} <= set(service["logging"]["options"])
    assert ("cap_add" in service) == (name == "postgres")
    checks = "healthcheck" in service or (name == "web" and "HEALTHCHECK" in DOCKERFILE)
    assert checks, "nobody notices that it hangs"


def test_images_are_named_by_exact_versions_that_a_digest_may_replace() -> None:
    base = re.search(r"^ARG PYTHON_IMAGE=(\S+)", DOCKERFILE, re.MULTILINE)
    assert base
    assert f"${{PYTHON_IMAGE:-{base[1]}}}" == COMPOSE["web"]["build"]["args"]["PYTHON_IMAGE"]
    for image in (f"${{PYTHON_IMAGE:-{base[1]}}}", COMPOSE["postgres"]["image"], COMPOSE["valkey"]["image"]):
        assert re.fullmatch(r"\$\{[A-Z_]+:-[a-z/]+:\d+\.\d+\.\d+[a-z0-9-]*\}", image), image


def test_our_image_has_the_version_of_the_product() -> None:
    assert {COMPOSE[name]["image"] for name in ("migrate", "web", "beat")} == {
        f"enterprise-knowledge-copilot:{VERSION}"
    }
    assert [image["newTag"] for image in KUSTOMIZATION["images"]] == [VERSION]


def test_postgres_has_connections_and_memory_for_what_it_is_asked() -> None:
    given = dict(re.findall(r"-c (\w+)=(\S+)", COMPOSE["postgres"]["command"]))
    assert int(given["max_connections"]) >= POOL + OTHERS
    building = size(given["maintenance_work_mem"])
    assert size(COMPOSE["postgres"]["shm_size"]) > building, "an index is built by several processes in /dev/shm"
    assert size(COMPOSE["postgres"]["mem_limit"]) > size(given["shared_buffers"]) + 2 * building


@pytest.mark.parametrize(
    "stop", [COMPOSE["web"]["stop_grace_period"], *re.findall(r"TimeoutStopSec=(\d+)", UNITS["common.conf"])]
)
def test_streams_may_end_before_the_web_process_is_killed(stop: str) -> None:
    graceful = [
        re.search(r"--timeout-graceful-shutdown\W+(\d+)", text) for text in (DOCKERFILE, UNITS["copilot-web.service"])
    ]
    assert all(item and int(item[1]) < int(stop.removesuffix("s")) for item in graceful)


def test_idle_connections_are_closed_by_the_proxy_first() -> None:
    """Else a request meets a connection that the web process has just closed."""
    texts = (DOCKERFILE, UNITS["copilot-web.service"], (BASE_DIR / "copilot_site/embedded/serve.py").read_text())
    kept = [re.search(r"--timeout-keep-alive\W+(\d+)", text) for text in texts]
    assert all(item and int(item[1]) > 60 for item in kept), "nginx keeps an idle upstream connection for 60 s"


def test_workers_serve_their_queues_everywhere() -> None:
    for name, queues in WORKERS.items():
        words = PODS[f"worker-{name}"]["containers"][0]["args"]
        assert words[words.index("-Q") + 1] == queues
        assert f" -Q {queues} " in UNITS[f"copilot-worker-{name}.service"]
        assert f" -Q {queues} " in COMPOSE[f"worker-{name}"]["command"]
        for command in (COMPOSE[f"worker-{name}"]["command"], " ".join(words)):
            assert "--include copilot_site.worker_alive" in command, "its check looks at the file that this marks"


def test_what_is_due_within_minutes_is_served_by_every_worker() -> None:
    """Two documents of hours held up both processes of the one worker that signed the audit log and brought dead work back."""
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        queue = settings.CELERY_TASK_ROUTES[entry["task"]]["queue"]
        serving = [name for name, queues in WORKERS.items() if queue in queues.split(",")]
        assert serving == (list(WORKERS) if entry["schedule"] <= 300 else ["bulk"])


def test_each_process_of_compose_reads_the_whole_env_file_and_names_nothing_else() -> None:
    for name in ("migrate", "web", "worker-interactive", "worker-bulk", "beat"):
        environment = COMPOSE[name]["environment"]
        assert COMPOSE[name]["env_file"] == ".env", name
        assert {key for key, value in environment.items() if value} <= set(Config.names()), name
        assert environment["COPILOT_HOME"] == "/srv/copilot", "the state stays in the image"


def test_all_resources_are_named_and_belong_together() -> None:
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(KUSTOMIZATION["resources"]) == files
    kinds = sorted(resource["kind"] for resource in RESOURCES)
    assert kinds == sorted(
        [
            "Namespace",
            "PersistentVolumeClaim",
            "NetworkPolicy",
            "NetworkPolicy",
            "Job",
            "Service",
            "PodDisruptionBudget",
        ]
        + ["Deployment"] * 4
    )
    for resource in RESOURCES:
        if resource["kind"] in {"Service", "PodDisruptionBudget"}:
            selector = resource["spec"]["selector"]
            assert selector.get("matchLabels", selector) == {"app": "web"}
        if resource["kind"] == "Deployment":
            assert resource["spec"]["selector"]["matchLabels"] == resource["spec"]["template"]["metadata"]["labels"]


def test_a_pod_is_confined_limited_and_watched() -> None:
    for name, pod in PODS.items():
        assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False), name
        assert pod["securityContext"]["runAsNonRoot"], name
        assert f"USER {pod['securityContext']['runAsUser']}\n" in DOCKERFILE, name
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["containers"] + pod.get("initContainers", []):
            rights = container["securityContext"]
            assert (rights["readOnlyRootFilesystem"], rights["allowPrivilegeEscalation"]) == (True, False), name
            assert rights["capabilities"] == {"drop": ["ALL"]}, name
            assert {"requests", "limits"} <= set(container["resources"]), name
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes, name
            secrets = [item["secretRef"]["name"] for item in container["envFrom"] if "secretRef" in item]
            assert secrets == ["owner" if name == "migrate" else "secrets"]
        if name != "migrate":
            assert "livenessProbe" in pod["containers"][0], name
            assert pod["initContainers"][0]["command"] == ["python", "manage.py", "migrate", "--check"], name


def test_the_web_is_drained_before_it_stops() -> None:
    pod = PODS["web"]
    (web,) = pod["containers"]
    graceful = re.search(r'--timeout-graceful-shutdown", "(\d+)"', DOCKERFILE)
    assert graceful
    wait = int(web["lifecycle"]["preStop"]["exec"]["command"][1])
    assert wait + int(graceful[1]) < pod["terminationGracePeriodSeconds"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert web[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "localhost"}], (
            "else the host is refused"
        )
    assert ",localhost\n" in (KUBERNETES / "settings.env").read_text()


def test_no_secret_is_in_the_repository() -> None:
    ignored = (BASE_DIR / ".gitignore").read_text().splitlines()
    for generator in KUSTOMIZATION["secretGenerator"]:
        for file in generator["envs"]:
            assert f"deploy/kubernetes/{file}" in ignored
            assert (KUBERNETES / f"{file}.example").exists()


def test_the_target_starts_every_process_and_the_page_fills_the_folders_of_the_units() -> None:
    """`systemctl enable` reads no [Install] of what units share."""
    wanted = re.findall(r"^Wants=(.*)$", UNITS["copilot.target"], re.MULTILINE)
    services = {name for name in UNITS if name.endswith(".service")} - {"copilot-migrate.service"}
    assert [set(names.split()) for names in wanted] == [services]
    page = (BASE_DIR / "docs" / "how-to" / "deploy.md").read_text()
    assert "systemctl enable --now copilot.target " in page
    folders = re.findall(r"COPILOT_(?:HOME|STATIC_ROOT)=\S+", UNITS["common.conf"])
    assert len(folders) == 2
    assert f"export {' '.join(folders)}\n" in page


def test_the_proxy_logs_neither_queries_nor_where_people_came_from() -> None:
    sample = (BASE_DIR / "deploy" / "nginx" / "copilot.conf").read_text()
    (format_name, fields), *others = re.findall(r"log_format (\w+) (.*);", sample)
    assert others == []
    assert not re.search(r"\$(request|request_uri|args|query_string|is_args|http_referer|arg_\w+)\b", fields)
    assert all(line.endswith(f" {format_name};") for line in re.findall(r"access_log .*;", sample))


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_unit_runs_a_program_of_ours_with_the_settings(name: str) -> None:
    text = UNITS[name]
    assert set(re.findall(r"^\[(\w+)\]$", text, re.MULTILINE)) == {"Unit", "Service"}
    assert all(re.match(r"#|\[|$|[A-Z][A-Za-z]+=\S", line) for line in text.splitlines()), text
    assert re.search(r"^ExecStart=/opt/copilot/\.venv/bin/(python|celery|uvicorn) ", text, re.MULTILINE)
    assert "EnvironmentFile=/etc/copilot/copilot.env\n" in text
    if name != "copilot-migrate.service":
        assert "Requires=copilot-migrate.service\nAfter=copilot-migrate.service\n" in text
        assert "Restart=always\n" in text

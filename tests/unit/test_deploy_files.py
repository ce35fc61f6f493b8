"""The deployment matches the program: settings, ports, paths, times and files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from core.app.settings import Settings
from tests.support import deploy
from tests.support.waiting import AT_LAST

GRACE = Settings.model_fields["shutdown_grace_seconds"].default
# Of others: PostgreSQL's image, the providers' libraries, Python, the interpolation of compose.
FOREIGN = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "POSTGRES_INITDB_ARGS"} | {
    "OPENAI_API_KEY",
    "PATH",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
}
YAMLS = sorted(deploy.DEPLOY.rglob("*.yaml"))
COMPONENTS = sorted(path.parent for path in deploy.KUBERNETES.rglob("kustomization.yaml"))


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.name)
def test_each_yaml_file_can_be_read(path: Path) -> None:
    assert deploy.documents(path)


def _names_in_kubernetes() -> set[str]:
    workloads = [m for m in deploy.manifests() if m["kind"] in deploy.WORKLOADS]
    given = {
        entry["name"]
        for workload in workloads
        for container in deploy.containers(workload)
        for entry in container.get("env", [])
    }
    secrets = [m for m in deploy.manifests() if m["kind"] == "Secret"]
    return given | {name for secret in secrets for name in secret["stringData"]}


def _names_in_compose() -> set[str]:
    services = deploy.compose_services().values()
    given = {name for service in services for name in service.get("environment", {})}
    text = (deploy.DEPLOY / "compose.yaml").read_text("utf-8")
    return given | set(re.findall(r"\$\{(\w+)", text))


def _names_in_units() -> set[str]:
    paths = deploy.SYSTEMD.glob("*.service")
    lines = [value for p in paths for key, value in deploy.unit(p.name) if key == "Environment"]
    return {pair.partition("=")[0] for line in lines for pair in line.split()}


def _names_in_image() -> set[str]:
    lines = [rest for word, rest in deploy.instructions("worker") if word == "ENV"]
    return {name for line in lines for name in re.findall(r"(\w+)=", line)}


def test_variables_are_settings_or_known_names_of_others() -> None:
    names = _names_in_kubernetes() | _names_in_compose() | _names_in_units() | _names_in_image()
    names |= set(deploy.env_file(deploy.DEPLOY / "compose.env.example"))
    names |= set(deploy.env_file(deploy.KUBERNETES / "worker.env"))
    assert len(names & deploy.SETTINGS) > 10
    assert names - deploy.SETTINGS - FOREIGN == set()


def test_the_settings_of_the_workers_can_be_read(tmp_path: Path) -> None:
    values = deploy.env_file(deploy.KUBERNETES / "worker.env")
    given = {name.lower(): value for name, value in values.items()}
    settings = Settings(_env_file=None, **given)  # type: ignore[arg-type,call-arg]
    assert (settings.health_host, settings.health_port) == ("0.0.0.0", 8720)
    assert settings.skill_api_base_url == "http://skills:8765"


def test_probes_ask_the_pages_of_health_on_its_port() -> None:
    [worker] = deploy.manifest("Deployment", "worker")["spec"]["template"]["spec"]["containers"]
    [port] = worker["ports"]
    assert (
        str(port["containerPort"])
        == deploy.env_file(deploy.KUBERNETES / "worker.env")["HEALTH_PORT"]
    )
    paths = {
        kind: worker[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")
    }
    assert {kind: get["path"] for kind, get in paths.items()} == {
        "startup": "/healthz",
        "liveness": "/healthz",
        "readiness": "/readyz",
    }
    assert {get["port"] for get in paths.values()} == {port["name"]}


def test_the_ingress_leads_to_what_serves_api_and_console() -> None:
    ingress = deploy.manifest("Ingress", "console")["spec"]
    [rule] = ingress["rules"]
    [path] = rule["http"]["paths"]
    service = deploy.manifest("Service", path["backend"]["service"]["name"])["spec"]
    [port] = service["ports"]
    assert path["backend"]["service"]["port"]["name"] == port["name"]
    deployment = deploy.manifest("Deployment", "console")["spec"]
    assert service["selector"].items() <= deployment["template"]["metadata"]["labels"].items()
    [container] = deployment["template"]["spec"]["containers"]
    [served] = container["ports"]
    env = deploy.env_file(deploy.KUBERNETES / "worker.env")
    assert (port["targetPort"], str(served["containerPort"])) == (
        served["name"],
        env["HEALTH_PORT"],
    )
    assert env["API_HOSTS"] == rule["host"] == ingress["tls"][0]["hosts"][0]
    assert "--console" in container["args"]
    [published] = deploy.compose_services()["console"]["ports"]
    assert published == f"127.0.0.1:{env['HEALTH_PORT']}:{env['HEALTH_PORT']}"


@pytest.mark.parametrize("name", ["skills", "computer-use"])
def test_services_lead_to_the_ports_that_are_served(name: str) -> None:
    [container] = deploy.containers(deploy.manifest("Deployment", name))
    [service] = deploy.manifest("Service", name)["spec"]["ports"]
    [port] = container["ports"]
    served = container["args"][container["args"].index("--port") + 1]
    assert (service["targetPort"], str(port["containerPort"])) == (port["name"], served)
    url = next(
        v for v in deploy.env_file(deploy.KUBERNETES / "worker.env").values() if f"//{name}:" in v
    )
    assert url == f"http://{name}:{service['port']}/mcp"


def test_whoever_stops_a_worker_waits_longer_than_its_grace() -> None:
    worker = deploy.manifest("Deployment", "worker")["spec"]["template"]["spec"]
    compose = deploy.compose_services()["worker"]
    assert worker["terminationGracePeriodSeconds"] > GRACE
    assert int(compose["stop_grace_period"].removesuffix("s")) > GRACE
    for name in ("skill-worker.service", "skill-worker@.service"):
        unit = dict(deploy.unit(name))
        assert int(unit["TimeoutStopSec"]) > GRACE
        assert (unit["KillMode"], unit["Restart"]) == ("mixed", "always")
    given = {compose["environment"]["SHUTDOWN_GRACE_SECONDS"]}
    given.add(deploy.env_file(deploy.KUBERNETES / "worker.env")["SHUTDOWN_GRACE_SECONDS"])
    assert given == {str(int(GRACE))}


@pytest.mark.parametrize("folder", COMPONENTS, ids=lambda folder: folder.name)
def test_a_kustomization_lists_every_file_beside_it(folder: Path) -> None:
    [listed] = deploy.documents(folder / "kustomization.yaml")
    beside = {path.name for path in folder.glob("*.yaml")}
    assert set(listed["resources"]) == beside - {"kustomization.yaml", "secret.example.yaml"}


def test_the_kustomization_names_every_component() -> None:
    text = (deploy.KUBERNETES / "kustomization.yaml").read_text("utf-8")
    named = yaml.safe_load(re.sub(r"^# ?(?=components:|  - )", "", text, flags=re.MULTILINE))
    assert set(named["components"]) == {path.name for path in COMPONENTS} - {"kubernetes"}


def test_every_container_is_held_tightly() -> None:
    for workload in (m for m in deploy.manifests() if m["kind"] in deploy.WORKLOADS):
        pod = workload["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (
            True,
            10001,
        )
        for container in deploy.containers(workload):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]


def test_sandboxes_reach_nothing_and_only_workers_reach_them() -> None:
    spec = deploy.manifest("NetworkPolicy", "computer-use")["spec"]
    assert (spec["policyTypes"], spec["egress"]) == (["Ingress", "Egress"], [])
    [rule] = spec["ingress"]
    [peer] = rule["from"]
    [one_of] = peer.pop("podSelector")["matchExpressions"]
    assert peer == {}
    assert one_of == {
        "key": "app.kubernetes.io/component",
        "operator": "In",
        "values": ["worker", "console"],
    }
    default = deploy.manifest("NetworkPolicy", "default-deny")["spec"]
    assert default == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize("name", sorted(path.name for path in deploy.SYSTEMD.glob("*.service")))
def test_systemd_finds_no_fault_in_a_unit(name: str, tmp_path: Path) -> None:
    text = (deploy.SYSTEMD / name).read_text("utf-8")
    unit = tmp_path / name.replace("@", "@1")
    unit.write_text(text.replace("/opt/skill-worker/bin/skill-worker", "/bin/true"))
    done = _run_where_it_is("systemd-analyze", "verify", str(unit))
    assert [line for line in done.stderr.splitlines() if unit.name in line] == []


@pytest.mark.nightly
def test_kustomize_builds_it() -> None:
    done = _run_where_it_is("kubectl", "kustomize", str(deploy.KUBERNETES))
    assert done.returncode == 0, done.stderr
    kinds = [found["kind"] for found in yaml.safe_load_all(done.stdout)]
    assert kinds.count("Deployment") == 4


def _run_where_it_is(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=AT_LAST)
    except FileNotFoundError:
        pytest.skip(f"{command[0]} is not installed here")

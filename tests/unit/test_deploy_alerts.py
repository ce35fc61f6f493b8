"""Alerts use metrics that a worker exports, and each has a runbook."""

from __future__ import annotations

import re
import subprocess

import pytest

from core.app.health.figures import Figures
from core.app.health.health import Metrics
from core.domain.models import FeedbackStatus, PauseKind, RunEvent, Usage, Waiting
from tests.support import deploy

# Told by Prometheus itself, its exporters, and the kubelet.
FOREIGN = {
    "up",
    "probe_success",
    "kube_pod_status_ready",
    "node_filesystem_avail_bytes",
    "node_filesystem_size_bytes",
    "kubelet_volume_stats_available_bytes",
    "kubelet_volume_stats_capacity_bytes",
}
# Of PromQL; what is left of an expression are names of metrics and labels.
WORDS = {"and", "or", "on", "by", "sum", "max", "min", "absent", "increase", "delta", "deriv"} | {
    "min_over_time",
    "max_over_time",
    "vector",
}
RUNBOOKS = (deploy.DEPLOY / "runbooks.md").read_text("utf-8")
[ALERTS] = deploy.documents(deploy.DEPLOY / "alerts.yaml")
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]


def _told() -> str:
    """Return all metrics a worker can export, in Prometheus format."""
    metrics = Metrics(lambda: 0.0)
    for name in ("applied", "failed", "refused", "went_stale"):
        data = {"kind": "MEMORY", "operation": "CREATE"}
        metrics.observe(RunEvent(name=f"change.{name}", data=data), Usage())
    figures = Figures(
        up=dict.fromkeys(("database", "skill_api", "model", "computer_use", "supabase"), True),
        pauses=(),
        waiting=Waiting(queued=1, processing=1, oldest_seconds=1.0),
        ended=dict.fromkeys(FeedbackStatus, 1),
    )
    return metrics.render(figures).decode()


TOLD = _told()
NAMES = set(re.findall(r"^# TYPE (\w+) ", TOLD, re.MULTILINE))


def _metrics_of(expression: str) -> set[str]:
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|\bby \(\w+\)|\b[\d.]+(?:e\d+)?\b", " ", expression)
    return set(re.findall(r"[a-z_]+", bare)) - WORDS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_exist(rule: deploy.Tree) -> None:
    asked = _metrics_of(rule["expr"])
    assert asked
    assert asked - NAMES - FOREIGN == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_labels_that_are_told(rule: deploy.Tree) -> None:
    for name, label, value in re.findall(r'(skill_worker_\w+)\{(\w+)="(\w+)"\}', rule["expr"]):
        assert re.search(rf'^{name}\{{.*\b{label}="{value}".*\}}', TOLD, re.MULTILINE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_grave_it_is_and_where_its_runbook_is(rule: deploy.Tree) -> None:
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"]["summary"].endswith(".")
    assert rule["annotations"]["runbook"] == f"runbooks.md#{rule['alert'].lower()}"


def test_each_alert_has_a_runbook_and_each_runbook_an_alert() -> None:
    sections = re.findall(r"^## (\w+)$", RUNBOOKS, re.MULTILINE)
    assert sections == list(dict.fromkeys(sections))
    assert set(sections) == {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("section", re.split(r"^## ", RUNBOOKS, flags=re.MULTILINE)[1:])
def test_a_runbook_says_what_to_look_at_and_what_to_do(section: str) -> None:
    parts = re.findall(r"^\*\*(\w+)\.\*\*", section, re.MULTILINE)
    assert parts == ["Meaning", "Impact", "Diagnose", "Fix", "Verify"]


def test_pages_name_metrics_that_exist() -> None:
    pages = [path.read_text("utf-8") for path in deploy.DEPLOY.rglob("*.md")]
    hpa = deploy.KUBERNETES / "autoscaling-hpa" / "horizontal-pod-autoscaler.yaml"
    named = {name for page in [*pages, hpa.read_text("utf-8")] for name in _ours(page)}
    [external] = deploy.manifest("HorizontalPodAutoscaler", "worker")["spec"]["metrics"]
    assert named - {external["external"]["metric"]["name"]} - NAMES == set()


_ROLES = re.compile(r"postgresql://skill_worker|\bskill_worker_all\b")


def _ours(text: str) -> list[str]:
    return re.findall(r"\bskill_worker_\w+", _ROLES.sub("", text))


def test_the_operators_rules_are_the_alerts() -> None:
    assert deploy.manifest("PrometheusRule", "skill-worker")["spec"] == ALERTS


@pytest.mark.parametrize("status", FeedbackStatus)
def test_the_queue_is_told_by_every_status(status: FeedbackStatus) -> None:
    assert f'skill_worker_feedback{{status="{status}"}}' in TOLD


@pytest.mark.parametrize("kind", PauseKind)
def test_each_way_of_holding_work_back_has_an_alert(kind: PauseKind) -> None:
    assert any(f'skill_worker_held{{kind="{kind}"}}' in rule["expr"] for rule in RULES)


@pytest.mark.nightly
@pytest.mark.parametrize("command", [("check", "rules"), ("test", "rules")])
def test_promtool_agrees(command: tuple[str, str]) -> None:
    file = {"check": "alerts.yaml", "test": "alerts.test.yaml"}[command[0]]
    try:
        done = subprocess.run(
            ["promtool", *command, str(deploy.DEPLOY / file)],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("promtool is not installed here")
    assert done.returncode == 0, done.stdout + done.stderr

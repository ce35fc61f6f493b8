"""`skill-worker.yaml`: where it is found, and how it goes with REVIEW_POLICY."""

import re
from pathlib import Path

import pytest

from core.app.config_file import ConfigFile, load_config, places
from core.app.settings import Settings
from core.domain.errors import ConfigurationError

HOLDS = "otherwise: hold\n"


def settings_of(**given: object) -> Settings:
    return Settings(_env_file=None, **given)  # type: ignore[arg-type]


def test_without_a_file_the_preset_decides() -> None:
    assert load_config(settings_of(review_policy="all")).otherwise == "hold"


def test_a_file_of_the_working_directory_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("skill-worker.yaml").write_text(HOLDS)
    assert load_config(settings_of()).otherwise == "hold"


def test_a_named_file_is_read_and_has_its_rules(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(HOLDS)
    assert load_config(settings_of(skill_worker_config=file)).otherwise == "hold"


def test_a_file_without_rules_leaves_the_preset_in_force(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("{}")
    found = load_config(settings_of(skill_worker_config=file, review_policy="all"))
    assert found.otherwise == "hold"


def test_the_file_of_the_policy_is_the_config_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(HOLDS)
    assert load_config(settings_of(review_policy=str(file))).otherwise == "hold"


def test_two_files_are_refused_naming_both(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"a\.yaml.*b\.yaml"):
        load_config(
            settings_of(
                review_policy=str(tmp_path / "a.yaml"), skill_worker_config=tmp_path / "b.yaml"
            )
        )


def test_an_unknown_section_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("scren: {}")
    with pytest.raises(ConfigurationError, match=r"ours\.yaml.*scren"):
        load_config(settings_of(skill_worker_config=file))


def test_a_wrong_file_is_named_with_its_setting_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("otherwise: hold\nrules:\n  - then: hold\n    when: {kind: no kind}\n")
    for given, setting in (
        ({"skill_worker_config": file}, "SKILL_WORKER_CONFIG"),
        ({"review_policy": str(file)}, "REVIEW_POLICY"),
    ):
        with pytest.raises(ConfigurationError, match=f"^{setting}={file}: line 4: rules.0.when"):
            load_config(settings_of(**given))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rule: []", "line 1: rule: there is no 'rule' here: is 'rules' meant"),
        ("mcp_tools:\n  pods: {run: bad}", r"line 2: mcp_tools.pods.run: .*destructive"),
        ("rules: 5", "line 1: rules is no list"),
        ("screen: {second_look: 3}", "line 1: screen.second_look is no text"),
        ("cases:\n  behaviour: {runs: many}", "line 2: cases.behaviour.runs is no whole number"),
        ("cases: {behaviour: {runs: -1}}", "line 1: cases.behaviour.runs has to be >= 0"),
        ("audit: 5", "line 1: audit is no object"),
        ("xyz: 1", "there is no 'xyz' here, but .*rules"),
        ("rules: []\n\nrules: []", "line 3: 'rules' stands there twice"),
        ("rules: [", "no YAML"),
        ("- a", "no mapping"),
        ("rules: &a [*a]", "nested too deeply"),
        ("roles: &a {x: *a}", "nested too deeply"),
        ("a: " + "[" * 2000, "nested too deeply|no YAML"),
    ],
)
def test_what_is_wrong_is_told_with_the_place(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=told) as error:
        load_config(settings_of(skill_worker_config=file))
    assert "skill-worker-yaml.md" in error.value.hint


def test_a_file_that_only_comments_leaves_the_mode_in_force(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("# nothing yet\n")
    assert load_config(settings_of(skill_worker_config=file, review_policy="all")).mode == "all"


def test_the_reference_page_lists_every_place_of_the_file() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/skill-worker-yaml.md").read_text("utf-8")
    listed = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(places(ConfigFile))

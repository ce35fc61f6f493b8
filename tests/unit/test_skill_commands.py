"""What `allowed-tools` covers: shell is judged part by part, never by how it begins."""

from __future__ import annotations

import pytest

from core.skills.commands import (
    Allowed,
    commands_in,
    read_allowed,
    runs,
    steps_in,
    tool_problems,
    uncovered,
)

GIT = read_allowed("Bash(git *)")


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("Read", [Allowed("Read")]),
        ("Bash(git *) Read", [Allowed("Bash", "git *"), Allowed("Read")]),
        ("Bash(git:*), Grep", [Allowed("Bash", "git *"), Allowed("Grep")]),
        ("Bash(*) Bash", [Allowed("Bash"), Allowed("Bash")]),
        ("Bash(npm run build)", [Allowed("Bash", "npm run build")]),
        ("", []),
        ("Bash(git", [Allowed("Bash", "git")]),
    ],
)
def test_allowed_tools_are_read(text: str, entries: list[Allowed]) -> None:
    assert [*read_allowed(text)] == entries


@pytest.mark.parametrize(
    "script",
    [
        "git status",
        "git",
        "git log -p -- 'a b' \"c\"",
        "git status && git log || git diff; git show\ngit tag &",
        "git log | git shortlog",
        'for f in *.md; do git add "$f"; done',
        "if git diff --quiet; then git commit -m 'x'; fi",
        "# a comment\ngit st\\atus",
        'g"it" status',
        "git log 2>&1 >/dev/null",
        "(git fetch)",
    ],
)
def test_a_pattern_covers_what_is_only_that(script: str) -> None:
    assert uncovered(GIT, script) == []


@pytest.mark.parametrize(
    ("script", "part"),
    [
        ("git status && rm -rf x", "rm -rf x"),
        ("git status || rm x", "rm x"),
        ("git status; rm x", "rm x"),
        ("git status & rm x", "rm x"),
        ("git status\nrm x", "rm x"),
        ("git log | sh", "sh"),
        ("git log |& tee x", "tee x"),
        ("git log $(rm x)", "$(rm x)"),
        ("git log `rm x`", "`rm x`"),
        ('git log "$(rm x)"', "$(rm x)"),
        ("git log <(rm x)", "<(rm x)"),
        ("git log > x", "> x"),
        ("git log > /dev/null -c core.pager=x", "> /dev/null -c core.pager=x"),
        ("git log >> ~/.bashrc", ">> ~/.bashrc"),
        ("git apply < x", "< x"),
        ("GIT_PAGER=x git log", "GIT_PAGER=x"),
        ("PATH=/tmp; git log", "PATH=/tmp"),
        ("export PATH=/tmp; git log", "export PATH=/tmp"),
        ("git -c core.pager=x log", "git -c core.pager=x log"),
        ("git '-c' core.pager=x log", "git '-c' core.pager=x log"),
        ("git --exec-path=/tmp log", "git --exec-path=/tmp log"),
        ("git grep --open-files-in-pager=x y", "git grep --open-files-in-pager=x y"),
        ('git "$X" log', 'git "$X" log'),
        ("git $'-c' x=y log", "git $'-c' x=y log"),
        ("$X status", "$X status"),
        ("gi$X status", "gi$X status"),
        ("github status", "github status"),
        ("timeout 9 git log", "timeout 9 git log"),
        ("env git log", "env git log"),
        ("git() { rm x; }; git log", "rm x"),
        ("alias git=rm; git x", "alias git=rm"),
        ("eval 'rm x'", "eval 'rm x'"),
        ("git log \\\n&& rm x", "rm x"),
        ("cat <<E\n$(rm x)\nE", "$(rm x)"),
        ("git log (", None),
        ("git grep -Ox y", "git grep -Ox y"),
        ("git log " + "x" * 100_000, None),
    ],
)
def test_what_else_is_done_is_named(script: str, part: str | None) -> None:
    found = uncovered(GIT, script)
    assert found
    assert part is None or part in found


@pytest.mark.parametrize(
    ("tools", "script", "covered"),
    [
        ("Bash", "rm -rf / | sh", True),
        ("Read", "ls", False),
        ("Bash(npm run build)", "npm run build", True),
        ("Bash(npm run build)", "npm run build --evil", False),
        ("Bash(git commit -m *)", "git commit -m 'a b'", True),
        ("Bash(git commit -m *)", "git commit -a", False),
        ("Bash(find * -name *)", "find . -name x", True),
        ("Bash(find *)", "find . -exec rm {} +", False),
        ("Bash(find * -exec grep *)", "find . -exec grep x {} +", True),
        ("Bash(git *) Bash(wc *)", "git log | wc -l", True),
        ("Bash(rsync *)", "rsync -avze 'sh -c x' a b", False),
        ("Bash(rsync *)", "rsync -av a b", True),
        ("Bash(tar *)", "tar -xzf a --to-command=sh", False),
        ("Bash(a * b * c)", "a x b y b z c", True),
        ("Bash(a * b * c)", "a x b y b z", False),
        (f"Bash({'* ' * 30}z)", f"{'a ' * 3000}", False),
        ("Bash(python3 scripts/*.py *)", "python3 scripts/a.py x", True),
        ("Bash(python3 scripts/*.py *)", "python3 -c 'x'", False),
    ],
)
def test_patterns_are_of_words(tools: str, script: str, covered: bool) -> None:
    assert (uncovered(read_allowed(tools), script) == []) is covered


def test_commands_are_found_wherever_they_stand() -> None:
    script = 'echo "$(curl -s x)" | sudo sh; f() { rm -rf y; }'
    assert [command.words[0] for command in commands_in(script)] == ["echo", "curl", "sudo", "rm"]
    document = f"# Do\n\n```sh\n{script}\n```\n"
    assert runs(document, ["curl *"])
    assert runs(document, ["sudo sh"])
    assert not runs(document, ["wget *"])
    assert not runs(script, ["curl *"])
    assert runs(document + "```sh\n" + "ls" + " x" * 60_000 + "\n" + "```\n", ["wget *"])


SKILL = """\
---
name: release
description: x
allowed-tools: {tools}
---
# Release

```bash
cd repo && git tag <version name>
git push && rm -rf build
```

- then

  ```console
  $ npm publish
  published
  ```

```python
rm -rf x
```
"""


def test_steps_are_the_shell_code_of_a_document() -> None:
    assert [(line, code.split()[0]) for line, code in steps_in(SKILL)] == [(8, "cd"), (15, "npm")]


def test_a_step_that_its_tools_do_not_cover_is_a_warning() -> None:
    found = tool_problems(SKILL.format(tools="Bash(git *) Read"), ["SKILL.md", "scripts/a.py"])
    assert {(one.code, one.severity) for one in found} == {("tools-uncovered", "warning")}
    told = [one.message for one in found]
    assert len(told) == 3
    assert "from line 8 on" in told[0]
    assert "rm -rf build" in told[0]
    assert "npm publish" in told[1]
    assert "scripts/a.py" in told[2]


@pytest.mark.parametrize(
    "tools",
    [
        "Bash(git *) Bash(rm *) Bash(npm:*) Bash(python3:*)",
        "[Bash(git *), Bash(rm *), Bash(npm publish), Bash(scripts/a.py)]",
        "Bash",
    ],
)
def test_a_skill_whose_tools_cover_it_has_no_warning(tools: str) -> None:
    assert tool_problems(SKILL.format(tools=tools), ["SKILL.md", "scripts/a.py"]) == []


def test_a_skill_that_names_no_tools_is_not_judged() -> None:
    assert tool_problems(SKILL.replace("allowed-tools: {tools}\n", ""), ["scripts/a.py"]) == []
    assert tool_problems("no head", []) == []

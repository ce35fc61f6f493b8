"""Agents as users call them: one id in two tenants, and the skills on an agent's list."""

from __future__ import annotations

from tests.support.home import Home

LEARNT = {"t": "보고서 금액은 원화로 표기해 주세요", "other": "Write amounts in dollars, always"}


def twins(home: Home) -> None:
    """Give both tenants an agent `twin`, and let each learn something of its own."""
    for tenant, text in LEARNT.items():
        add = ("agents", "add", "--id", "twin", "--tenant", tenant, "--name", tenant.upper())
        assert home.ask(*add)["items"] == [{"id": "twin", "new": True}]
        said = ("feedback", "add", "--text", text, "--agent", "twin", "--tenant", tenant)
        assert home.call(*said)[0] == 0
    code, out, err = home.call("run", "--once", "--offline")
    assert code == 0, out + err


def test_an_id_of_two_tenants_learns_for_each_of_them(home: Home) -> None:
    twins(home)
    assert {piece["status"] for piece in home.items("feedback", "list")} == {"completed"}
    for tenant, text in LEARNT.items():
        of_twin = ("--agent", "twin", "--tenant", tenant)
        for command in (("list",), ("search", text)):
            items = home.items("knowledge", *command, *of_twin)
            assert [item.get("content", text) for item in items] == [text]
    listed = [(item["id"], item["tenant_id"]) for item in home.items("agents", "list")]
    assert listed == [("a", "t"), ("b", "other"), ("twin", "other"), ("twin", "t")]


def test_an_id_of_two_tenants_is_asked_back_without_the_tenant(home: Home) -> None:
    (home.path / "in.jsonl").write_text("")
    home.monkeypatch.chdir(home.path)
    for tenant in ("t", "other"):
        home.ask("agents", "add", "--id", "twin", "--tenant", tenant, "--name", "T")
    for command in (
        ("knowledge", "list", "--agent", "twin"),
        ("knowledge", "search", "x", "--agent", "twin"),
        ("knowledge", "export", "--agent", "twin", "-o", "out.jsonl"),
        ("knowledge", "import", "--agent", "twin", "in.jsonl"),
        ("rule", "export", "approval", "--agent", "twin", "-o", "out.dmn"),
        ("rule", "decide", "approval", "--agent", "twin", "--input", "amount=1"),
        ("agents", "setup", "twin"),
        ("agents", "skills", "twin"),
    ):
        error = home.fails(*command, code=2)
        assert error["message"] == "several tenants have an agent 'twin': 'other', 't'", command
        assert error["hint"] == "say which tenant with --tenant", command


def test_the_same_goal_sets_up_the_agent_of_either_tenant(home: Home) -> None:
    for tenant in ("t", "other"):
        home.ask(
            *("agents", "add", "--id", "twin", "--tenant", tenant, "--name", "T"),
            *("--goal", "Refunds over 500,000 KRW need a manager's approval."),
        )
    asked = [home.ask("agents", "setup", "twin", "--tenant", t) for t in ("t", "other")]
    assert [answer["new"] for answer in asked] == [True, True]
    assert home.ask("agents", "setup", "twin", "--tenant", "t") == {**asked[0], "new": False}


SKILL = "---\nname: {0}\ndescription: How to {0}. Use it for {0}.\n---\n# {0}\n"


def two_agents_and_two_skills(home: Home) -> None:
    """Let agents a and c of one tenant have `refund`, and a alone `audit`."""
    home.ask("agents", "add", "--id", "c", "--tenant", "t", "--name", "C")
    home.bring(kind="SKILL", name="refund", content=SKILL.format("refund"), other_agent_ids=["c"])
    home.bring(kind="SKILL", name="audit", content=SKILL.format("audit"))


def listed(home: Home, agent_id: str) -> list[object]:
    return [item["name"] for item in home.items("agents", "skills", agent_id)]


def test_the_skills_of_an_agent_are_listed_with_who_shares_them(home: Home) -> None:
    two_agents_and_two_skills(home)
    assert home.items("agents", "skills", "a") == [
        {"name": "audit", "shared_with": []},
        {"name": "refund", "shared_with": ["c"]},
    ]
    code, out, _ = home.call("agents", "skills", "c")
    assert (code, out.split()[-2:]) == (0, ["refund", "a"])
    home.ask("agents", "skills", "c", "--set", "")
    assert "no skills on its list" in home.call("agents", "skills", "c")[2]
    assert home.fails("agents", "skills", "nobody", code=5)["kind"] == "not_found"
    assert home.fails("agents", "skills", "a", "--tenant", "other", code=5)["kind"] == "not_found"


def test_skills_are_put_on_a_list_taken_off_and_the_change_undone(home: Home) -> None:
    two_agents_and_two_skills(home)
    done = home.ask("agents", "skills", "a", "--remove", "refund", "audit")
    assert (done["status"], done["kind"]) == ("applied", "AGENT_SKILLS")
    assert done["message"] == "taken off the list of agent 'A': audit, refund"
    assert (listed(home, "a"), listed(home, "c")) == ([], ["refund"])
    assert home.ask("agents", "skills", "c", "--add", "audit")["status"] == "attached"
    assert listed(home, "c") == ["audit", "refund"]
    (record, *_) = home.items("history", "list")
    assert (record["knowledge_type"], record["knowledge_id"]) == ("AGENT_SKILLS", "c")
    assert (record["previous_content"], record["new_content"]) == ("refund", "audit\nrefund")
    assert home.ask("changes", "revert", str(done["change_id"]))["status"] == "attached"
    assert listed(home, "a") == ["audit", "refund"]
    home.ask("agents", "skills", "a", "--set", "audit", "--dry-run")
    assert listed(home, "a") == ["audit", "refund"]
    home.ask("agents", "skills", "--set", "audit", "a")
    assert listed(home, "a") == ["audit"]


def test_a_list_is_changed_as_the_review_policy_says(home: Home) -> None:
    two_agents_and_two_skills(home)
    (home.path / "policy.yaml").write_text("otherwise: hold\n")
    home.policy(str(home.path / "policy.yaml"))
    held = home.ask("agents", "skills", "a", "--remove", "refund")
    assert held["status"] == "held"
    assert listed(home, "a") == ["audit", "refund"]
    assert home.ask("changes", "approve", str(held["change_id"]))["status"] == "applied"
    assert listed(home, "a") == ["audit"]


def test_what_cannot_be_done_to_a_list_is_named_and_nothing_happens(home: Home) -> None:
    two_agents_and_two_skills(home)
    unknown = "there is no skill named 'nope'. see `skill-worker knowledge list"
    one_of = "one of --add, --remove and --set"
    wrong = {
        ("--remove", "nope"): (1, "not on the list of agent 'a': nope. on its list: audit, refund"),
        ("--add", "nope"): (1, unknown),
        ("--set", "audit", "nope"): (1, unknown),
        ("--add", "audit", "--remove", "refund"): (2, one_of),
        ("audit",): (2, one_of),
        ("--add", " , "): (2, "no skill is named"),
    }
    for given, (code, says) in wrong.items():
        done, out, err = home.call("agents", "skills", "a", *given)
        assert done == code, given
        assert says in out + err
        assert listed(home, "a") == ["audit", "refund"], given


def test_feedback_that_deletes_a_shared_skill_takes_it_off_one_list(home: Home) -> None:
    two_agents_and_two_skills(home)
    told = SKILL.format("refund").replace("How to refund.", "Refunds of partial card orders.")
    home.bring(kind="SKILL", name="refund", content=told)
    text = "Partial card orders: refunds are no longer made. Please delete the refund skill."
    assert home.call("feedback", "add", "--text", text, "--agent", "a", "--tenant", "t")[0] == 0
    code, out, err = home.call("run", "--once", "--offline")
    assert code == 0, out + err
    assert (listed(home, "a"), listed(home, "c")) == (["audit"], ["refund"])
    assert home.ask("knowledge", "show", "refund", "--tenant", "t")["id"] == "refund"
    (record, *_) = home.items("history", "list")
    assert (record["knowledge_type"], record["operation"]) == ("AGENT_SKILLS", "UPDATE")


def test_a_learnt_skill_is_asked_to_be_deleted_for_all(home: Home) -> None:
    two_agents_and_two_skills(home)
    remove = ("skill", "remove", "refund", "--tenant", "t")
    assert home.fails(*remove, code=1)["message"] == "several agents have the skill 'refund': a, c"
    held = home.ask(*remove, "--for-all")
    assert held["status"] == "held"
    assert "C (c)" in str(held["message"])
    assert (listed(home, "a"), listed(home, "c")) == (["audit", "refund"], ["refund"])
    assert home.ask("changes", "approve", str(held["change_id"]))["status"] == "applied"
    assert (listed(home, "a"), listed(home, "c")) == (["audit"], [])
    gone = home.fails(*remove, "--for-all", code=5)
    assert gone["message"] == "there is no skill named 'refund'"


def test_feedback_that_says_so_asks_to_delete_a_skill_for_all(home: Home) -> None:
    two_agents_and_two_skills(home)
    text = "refund 스킬은 이제 전사적으로 폐지됐어요. 모두에게서 삭제해 주세요"
    assert home.call("feedback", "add", "--text", text, "--agent", "a", "--tenant", "t")[0] == 0
    code, out, err = home.call("run", "--once", "--offline")
    assert code == 0, out + err
    (waits,) = home.items("changes", "list", "--status", "held")
    assert (waits["kind"], waits["operation"], waits["target_id"]) == ("SKILL", "DELETE", "refund")
    assert (listed(home, "a"), listed(home, "c")) == (["audit", "refund"], ["refund"])

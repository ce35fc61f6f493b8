"""Which port calls happen between the claim of a piece and its acknowledgement."""

from __future__ import annotations

import inspect

from core.domain import ports

# Ports by the names under which `open_app` passes them to its hook, and those that contexts yield.
NAMES: dict[str, type] = {
    "agents": ports.Agents,
    "answers": ports.Answers,
    "backlog": ports.Backlog,
    "budgets": ports.Budgets,
    "changes": ports.ChangeLog,
    "conversations": ports.Conversations,
    "deliveries": ports.Deliveries,
    "feed": ports.Feed,
    "figures": ports.Figures,
    "documents": ports.SkillDocuments,
    "inbox": ports.Inbox,
    "intake": ports.Intake,
    "journal": ports.Journal,
    "knowledge": ports.Knowledge,
    "breaker": ports.CircuitBreaker,
    "lineage": ports.Lineage,
    "pages": ports.KnowledgePages,
    "past": ports.KnowledgePast,
    "pod": ports.Pod,
    "pods": ports.Pods,
    "reader": ports.Reader,
    "replies": ports.Replies,
    "retention": ports.Retention,
    "review_queue": ports.ReviewQueue,
    "reviews": ports.Reviews,
    "runs": ports.Runs,
    "search": ports.Search,
    "unit": ports.UnitOfWork,
    "skills": ports.SkillStore,
    "spending": ports.Spending,
    "steps": ports.Steps,
    "duplicate_waiters": ports.DuplicateWaiters,
    "supabase": ports.FeedbackSource,
    "target_locks": ports.TargetLocks,
    "threads": ports.Threads,
    "tokens": ports.Tokens,
}
# Inside the gate, the author and the search by meaning: the first two reach the outside by the
# ports above; the last one's failures fall back to words alone (test_search_by_meaning).
INSIDE = {
    ports.Bell,
    ports.Committer,
    ports.Embeddings,
    ports.Gate,
    ports.Ranking,
    ports.SkillAuthor,
    ports.Vectors,
}
# Calls that no piece of feedback makes between its claim and its end, or only after a failure.
ELSEWHERE: dict[str, str] = {
    "agents.awaiting_setup": "beside the jobs",
    "agents.having": "no task of the suite deletes a skill",
    "agents.list": "the command line",
    "agents.of_id": "the command line",
    "agents.setup_begun": "the command line",
    "answers.begin": "the HTTP API",
    "answers.end": "the HTTP API",
    "answers.forget": "the HTTP API",
    "backlog.ended": "the figures of the health port",
    "backlog.undecided": "the figures of the health port",
    "backlog.waiting": "the figures of the health port",
    "budgets.today": "the command line",
    "budgets.used_up": "beside the jobs",
    "changes.conclude": "an import",
    "changes.find": "only in a run that was cut off before; without a kill none is",
    "changes.find_all": "an import",
    "changes.get": "the command line",
    "changes.store": "only where a skill cannot be made ready, or waits for a person: test_pods",
    "feed.after": "people who watch",
    "feed.listening": "people who watch",
    "feed.cursor": "people who watch",
    "figures.ended": "people who watch",
    "figures.outcomes": "people who watch",
    "figures.reviews": "people who watch",
    "figures.standing": "people who watch",
    "figures.workers": "people who watch",
    "inbox.add": "before the claim; with a source: test_platform",
    "inbox.add_first": "beside the jobs, where SETUP_NEW_AGENTS is on: test_agent_setup",
    "inbox.get": "the command line",
    "inbox.give_back": "only after a failure: test_model",
    "inbox.passed_over": "reads only, and nothing of the suite was passed over: test_said_order",
    "inbox.wait_for": "no piece of the suite waits for another: test_said_order",
    "intake.cancel": "the command line",
    "intake.pause": "the command line",
    "intake.paused": "beside the jobs",
    "intake.resume": "the command line",
    "intake.revive": "the command line",
    "knowledge.as_of": "the command line",
    "knowledge.list": "the command line",
    "knowledge.versions": "the command line",
    "breaker.current_pause": "beside the jobs",
    "breaker.probe": "beside the jobs",
    "lineage.counts": "lists for people",
    "lineage.made": "lists for people",
    "lineage.taught": "lists for people",
    "pages.browse": "lists for people",
    "pages.page": "the command line",
    "past.last": "the command line",
    "past.version": "a person who restores one",
    "reader.changes": "lists for people",
    "reader.counts": "lists for people",
    "reader.events": "lists for people",
    "reader.feedback": "lists for people",
    "reader.history": "lists for people",
    "reader.history_record": "lists for people",
    "retention.prune": "beside the jobs, and only what has ended",
    "review_queue.oldest": "a reviewer, after the end",
    "review_queue.open": "a reviewer, after the end",
    "reviews.approve": "a person's decision, after the end",
    "reviews.end": "a person's decision, after the end",
    "reviews.now": "a person's decision",
    "reviews.overdue": "beside the jobs: the sweep of what waits",
    "reviews.remind": "beside the jobs: the sweep of what waits",
    "reviews.replace": "a person's decision, after the end",
    "runs.candidates": "only where a piece was claimed before; without a kill none was",
    "runs.receipts": "only in a run that a person asked to repeat",
    "unit.take_back": "a retraction, after the end",
    "skills.delete": "no task of the suite deletes a skill",
    "skills.delete_file": "no task of the suite deletes a file",
    "spending.of_change": "the command line",
    "spending.of_days": "the command line",
    "spending.pay": "a look ahead",
    "steps.chain": "a retraction, after the end",
    "steps.of_feedback": "a retraction, after the end",
    "steps.take_back": "a retraction, after the end",
    "duplicate_waiters.note": "only where nothing is new: test_retract",
    "duplicate_waiters.join": "only under a review policy: test_held_feedback",
    "duplicate_waiters.at": "a retraction, after the end",
    "duplicate_waiters.of_feedback": "a retraction, after the end",
    "duplicate_waiters.forget": "a retraction, after the end",
    "supabase.ping": "the doctor",
    "target_locks.abandoned": "beside the jobs: the gate's sweep",
    "target_locks.adopt": "beside the jobs: the gate's sweep",
    "target_locks.latest": "only where the lease was lost: test_late_writes",
    "threads.read": "a person who looks at a run",
    "target_locks.unfinished": "only in a run that a person asked to repeat",
    "tokens.add": "the HTTP API and the command line",
    "tokens.find": "the HTTP API and the command line",
    "tokens.list": "the HTTP API and the command line",
    "tokens.redeem": "the HTTP API and the command line",
    "tokens.revoke": "the HTTP API and the command line",
}


def port_calls() -> set[str]:
    """Return every async method and context of every port, by the port's name in the hook."""
    return {
        f"{name}.{method}"
        for name, port in NAMES.items()
        for method, function in vars(port).items()
        if not method.startswith("_") and _is_call(function)
    }


def _is_call(function: object) -> bool:
    if inspect.iscoroutinefunction(function):
        return True
    returned = getattr(function, "__annotations__", {}).get("return", "")
    return "AbstractAsyncContextManager" in str(returned)

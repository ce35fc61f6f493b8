"""What Schemathesis needs to know about the API: existing ids, and rules beyond the schema."""

from __future__ import annotations

import itertools
import json
import os
import re

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

KNOWN = "API_TEST_KNOWN_IDS"  # where the test leaves ids, as JSON
ONE_OF_A_KIND = "API_TEST_ONE_OF_A_KIND"
KEY = "Idempotency-Key"
# Why data that the schema allows may still be refused.
SAID_IN_WORDS = re.compile(
    r"is no cursor$|of another list, or of other filters$|holds a NUL character$"
    r"|the query holds no words to look for$|a time and a version were given$"
    r"|(content|id|tenant_id|name|reason) is blank$|agent_ids names no agent$"
    r"|agent_ids is blank$|data should be valid base64|there is no (skill named|kind) "
    r"|no agent is named$|are two lists: ask for one of them$"
    r"|the check \w+ is not for \w+, which has "
)
_ids = {name: itertools.cycle(ids) for name, ids in json.loads(os.environ[KNOWN]).items()}
_turn = itertools.count()
_tried: set[object] = set()


@schemathesis.hook
def before_call(
    context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, object]
) -> None:
    """Put existing ids into every second well-formed call, and a fresh key into each."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive:
        return
    if case.headers and KEY in case.headers:
        case.headers[KEY] = f"key-{next(_turn)}"
    if next(_turn) % 2 == 0:
        for given in (case.path_parameters, case.query):
            for name in _ids.keys() & (given or {}).keys():
                given[name] = next(_ids[name])


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Where it is asked for, let one of a kind pass: wrong or right in one way, in one place.

    Parameters of a path are one place, and so are those of a query; at night each has its own.
    """
    if ONE_OF_A_KIND not in os.environ or case.meta is None:
        return True
    how = case.meta.phase.data
    kind = (case.operation.label, case.meta.generation.mode)
    kind += tuple(
        getattr(how, name, None) for name in ("scenario", "parameter_location", "location")
    )
    is_new = kind not in _tried
    _tried.add(kind)
    return is_new


@schemathesis.check
def what_is_valid_is_accepted(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> bool | None:
    """The check of that kind, minus refusals whose reason the schema cannot express.

    A link may carry an empty id to a path: a skill is of no agent.
    """
    if "" in (case.path_parameters or {}).values():
        return None
    if response.status_code == 422 and SAID_IN_WORDS.search(response.json()["detail"]):
        return None
    return positive_data_acceptance(ctx, response, case)

"""People sign in at an OpenID Connect provider: a real one, over HTTP on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from lxml import html
from pydantic import SecretStr
from structlog.testing import capture_logs

from core.domain.models.access import ClaimGrant, Role, SignIn
from core.entrypoints.api.oidc import Provider as Client
from tests.support import oidc_provider
from tests.support.guarded import HERE, PAGE, World

REVIEWERS = ClaimGrant(
    claim="groups", value="reviewers", roles=(Role.READ, Role.REVIEW), tenants=("acme",)
)
ADMINS = ClaimGrant(claim="groups", value="admins", roles=tuple(Role), all_tenants=True)
OTHERS = ClaimGrant(claim="groups", value="auditors", roles=(Role.READ,), tenants=("other",))
BY_CLAIM = ClaimGrant(claim="realm.roles", value="review", roles=(Role.REVIEW,), tenant_claim="org")


class Company:
    """A provider, a worker that asks it, and the browser of a person."""

    def __init__(self, provider: oidc_provider.Provider, **given: object) -> None:
        self.provider = provider
        grants = (REVIEWERS, OTHERS, ADMINS, BY_CLAIM)
        config = {
            "issuer": provider.url,
            "client_id": oidc_provider.CLIENT,
            "label": "Acme",
            "grants": grants,
            **given,
        }
        self.asking = Client(SignIn.model_validate(config), SecretStr(oidc_provider.SECRET))
        self.world = World(provider=self.asking, person_life=timedelta(hours=1))
        self.browser = self.world.client()

    async def sign_in(self, wanted: str = "/console/review?id=c1") -> httpx.Response:
        """Sign in as people do: to the provider, and back with what it says."""
        return await self.browser.get(await self.to_provider(wanted), headers=PAGE)

    async def to_provider(self, wanted: str = "/console/") -> str:
        """Go to the provider; return where it sends the browser back to."""
        begun = await self.browser.get("/console/sign-in", params={"next": wanted})
        assert begun.status_code == 303, begun.text
        async with httpx.AsyncClient() as elsewhere:
            back = await elsewhere.get(begun.headers["location"])
        return back.headers["location"]

    async def who(self) -> dict[str, object] | int:
        """Return who the worker takes the browser for."""
        answer = await self.browser.get("/console/x")
        found: dict[str, object] | int = answer.json() if answer.is_success else answer.status_code
        return found


@asynccontextmanager
async def company(**given: object) -> AsyncIterator[Company]:
    async with oidc_provider.Provider().serving() as provider:
        yield Company(provider, **given)


async def test_a_person_signs_in_with_their_name_and_the_roles_of_their_groups() -> None:
    async with company() as acme:
        page = await acme.browser.get("/console/enter", headers=PAGE)
        assert "Sign in with Acme" in page.text
        entered = await acme.sign_in()
        assert (entered.status_code, "url=/console/review?id=c1" in entered.text) == (200, True)
        (session,) = [c for c in entered.headers.get_list("set-cookie") if "session=" in c]
        assert ("Max-Age=3600" in session, "SameSite=strict" in session) == (True, True)
        who = await acme.who()
        assert isinstance(who, dict)
        assert (who["name"], who["tenant_id"], sorted(who["roles"])) == (  # type: ignore[call-overload]
            "kim@example.com",
            "acme",
            ["read", "review"],
        )
        (live,) = await acme.world.tokens.sessions()
        assert live.subject == f"{acme.provider.url} u-1"
        acme.world.now += timedelta(hours=1)
        assert await acme.who() == 401


async def test_what_is_asked_of_the_provider_is_bound_to_this_browser() -> None:
    async with company() as acme:
        begun = await acme.browser.get("/console/sign-in")
        query = parse_qs(urlsplit(begun.headers["location"]).query)
        assert query["code_challenge_method"] == ["S256"]
        assert query["redirect_uri"] == [f"{HERE}/console/signed-in"]
        assert len({query[name][0] for name in ("state", "nonce", "code_challenge")}) == 3
        kept = begun.headers["set-cookie"]
        assert ("HttpOnly" in kept, "SameSite=lax" in kept) == (True, True)
        back = await acme.to_provider()
        async with acme.world.client() as another:
            assert (await another.get(back)).status_code == 403
        forged = back.replace("state=", "state=x")
        assert "not the one that this browser began" in (await acme.browser.get(forged)).text
        assert (await acme.browser.get(back)).status_code == 200
        assert (await acme.browser.get(back)).status_code == 403, "a code counts once"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"nonce": "of another sign-in"}, "nonce"),
        ({"exp": 1_700_000_000}, "exp"),
        ({"iss": "https://evil.example"}, "iss"),
        ({"aud": "another client"}, "aud"),
        ({"aud": ["skill-worker", "x"], "azp": "x"}, "azp"),
        ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "at_hash"),
        ({"sub": None}, "sub"),
    ],
)
async def test_a_token_that_does_not_hold_signs_nobody_in(
    told: dict[str, object], why: str
) -> None:
    async with company() as acme:
        acme.provider.told = told  # type: ignore[assignment]
        with capture_logs() as logged:
            answer = await acme.sign_in()
        assert (answer.status_code, await acme.who()) == (403, 401)
        (failed,) = [line for line in logged if line["event"] == "sign_in.failed"]
        assert why in failed["error"]
        assert "of another sign-in" not in str(logged)


async def test_a_signature_of_another_key_signs_nobody_in_and_a_new_key_does() -> None:
    async with company() as acme:
        await acme.sign_in()
        acme.provider.kid = "k2"
        assert (await acme.sign_in()).status_code == 403
        acme.provider.rotate("k2")
        assert (await acme.sign_in()).status_code == 200
        assert acme.provider.calls.count("/.well-known/openid-configuration") == 1


async def test_no_shared_secret_counts_as_a_signature() -> None:
    async with company() as acme:
        acme.provider.alg = "HS256"
        assert ((await acme.sign_in()).status_code, await acme.who()) == (403, 401)


async def test_a_person_without_a_role_is_recognised_and_told_so() -> None:
    async with company() as acme:
        acme.provider.claims["groups"] = ["guests"]
        answer = await acme.sign_in()
        assert (answer.status_code, "no role here belongs" in answer.text) == (403, True)
        assert await acme.who() == 401


async def test_a_person_of_two_tenants_chooses_one_and_gets_its_roles_alone() -> None:
    async with company() as acme:
        acme.provider.claims["groups"] = ["reviewers", "auditors"]
        page = html.document_fromstring((await acme.sign_in()).content)
        forms = {form.text_content().strip(): dict(form.fields) for form in page.forms}
        assert (sorted(forms), await acme.who()) == (["acme", "other"], 401)
        entered = await acme.browser.post("/console/enter", data=forms["other"])
        assert entered.headers["location"] == "/console/review?id=c1"
        who = await acme.who()
        assert isinstance(who, dict)
        assert (who["tenant_id"], who["roles"]) == ("other", ["read"])
        (session,) = await acme.world.tokens.sessions()
        assert session.expires_at == acme.world.now + timedelta(hours=1)


async def test_claims_can_be_nested_name_the_tenant_and_come_from_userinfo() -> None:
    async with company() as acme:
        acme.provider.claims = {"sub": "u-1", "email": "kim@evil.example", "email_verified": False}
        acme.provider.userinfo = {
            "realm": {"roles": ["review"]},
            "org": "beta",
            "preferred_username": "kim\u202e",
        }
        await acme.sign_in()
        who = await acme.who()
        assert isinstance(who, dict)
        assert (who["name"], who["tenant_id"], who["roles"]) == ("kim", "beta", ["review"])
        acme.provider.userinfo["sub"] = "somebody else"
        assert (await acme.sign_in()).status_code == 403


async def test_while_the_provider_is_down_it_is_told_and_tokens_still_sign_in() -> None:
    async with company() as acme:
        back = await acme.to_provider()
        acme.provider.fails = True
        answer = await acme.browser.get(back)
        assert (answer.status_code, "does not answer as it should" in answer.text) == (503, True)
    elsewhere = Company(acme.provider)  # nobody listens there any more
    answer = await elsewhere.browser.get("/console/sign-in")
    assert (answer.status_code, "does not answer as it should" in answer.text) == (503, True)
    token = (await elsewhere.world.token()).secret.get_secret_value()
    assert (
        await elsewhere.browser.post("/console/enter", data={"token": token})
    ).has_redirect_location


async def test_a_provider_that_calls_itself_otherwise_is_not_asked() -> None:
    async with company() as acme:
        other = acme.provider.url.replace("127.0.0.1", "localhost")
        answer = await Company(acme.provider, issuer=other).browser.get("/console/sign-in")
        assert (answer.status_code, acme.provider.calls) == (
            503,
            ["/.well-known/openid-configuration"],
        )


async def test_signing_out_ends_the_session_and_leads_to_the_providers_own() -> None:
    async with company() as acme:
        await acme.sign_in()
        left = await acme.browser.post("/console/leave")
        assert await acme.who() == 401
        assert f"{acme.provider.url}/logout?client_id=skill-worker" in left.text
        assert "Sign out at Acme too" in left.text


async def test_signing_out_everywhere_ends_all_sessions_of_the_person_alone() -> None:
    async with company() as acme:
        await acme.sign_in()
        await acme.sign_in()
        token = (await acme.world.token()).secret.get_secret_value()
        assert await acme.world.access.open_session(token)
        await acme.browser.post("/console/leave", data={"everywhere": "1"})
        assert [one.name for one in await acme.world.tokens.sessions()] == ["ci"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"issuer": "http://login.example"}, "https://"),
        ({"grants": []}, "at least 1"),
        ({"grants": [{"claim": "g", "value": "v", "roles": ["read"]}]}, "all_tenants"),
        ({"client_secret_env": "not a name"}, "pattern"),
    ],
)
def test_a_configuration_that_is_wrong_says_what(given: dict[str, object], why: str) -> None:
    right = {"issuer": "https://login.example", "client_id": "c", "grants": [REVIEWERS]}
    with pytest.raises(ValueError, match=why):
        SignIn.model_validate({**right, **given})

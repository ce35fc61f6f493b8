"""An OpenID Connect provider over real HTTP on loopback, with PKCE and signed tokens."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import parse_qs, unquote_plus, urlencode

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from core.adapters.embedded.http_server import run_server

CLIENT, SECRET = "skill-worker", "s3cret of the+client"


@cache
def key(kid: str) -> RSAKey:
    """Return the key of an id; making one takes a tenth of a second."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"})


@dataclass
class Provider:
    """Signs everybody in as the one with these `claims`; `told` replaces claims of the ID token.

    `userinfo` is what the userinfo endpoint adds. While `fails` is set, each call answers 503.
    """

    claims: dict[str, JsonValue] = field(
        default_factory=lambda: {"sub": "u-1", "email": "kim@example.com", "groups": ["reviewers"]}
    )
    told: dict[str, JsonValue] = field(default_factory=dict)
    userinfo: dict[str, JsonValue] = field(default_factory=dict)
    alg: str = "RS256"
    kid: str = "k1"
    published: Sequence[str] = ("k1",)
    lasts: int = 300
    fails: bool = False
    url: str = ""
    calls: list[str] = field(default_factory=list)
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def rotate(self, kid: str) -> None:
        """Sign with another key from now on; the one before is published no more."""
        self.kid, self.published = kid, (kid,)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Provider]:
        """Serve on a free port while the context lasts."""
        routes = [
            Route("/.well-known/openid-configuration", self._discovery),
            Route("/authorize", self._authorize),
            Route("/token", self._token, methods=["POST"]),
            Route("/jwks", self._jwks),
            Route("/userinfo", self._userinfo),
        ]
        async with run_server(Starlette(routes=routes)) as url:
            self.url = url
            yield self

    async def _discovery(self, request: Request) -> Response:
        return self._answer(
            request,
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "end_session_endpoint": f"{self.url}/logout",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
            },
        )

    async def _authorize(self, request: Request) -> Response:
        given = dict(request.query_params)
        asked = (given["client_id"], given["response_type"], given["code_challenge_method"])
        assert asked == (CLIENT, "code", "S256")
        assert "openid" in given["scope"].split()
        code = secrets.token_urlsafe(8)
        self._codes[code] = given
        back = urlencode({"code": code, "state": given["state"]})
        return RedirectResponse(f"{given['redirect_uri']}?{back}", 302)

    async def _token(self, request: Request) -> Response:
        form = {name: found[0] for name, found in parse_qs((await request.body()).decode()).items()}
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if (
            asked is None
            or self._client(request) != (CLIENT, SECRET)
            or form["redirect_uri"] != asked["redirect_uri"]
            or _base64(digest) != asked["code_challenge"]
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        access, now = secrets.token_urlsafe(8), int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + self.lasts,
            "nonce": asked["nonce"],
            "at_hash": _base64(hashlib.sha256(access.encode()).digest()[:16]),
            **self.claims,
            **self.told,
        }
        token = jwt.encode(
            {"alg": self.alg, "kid": self.kid},
            claims,
            key(self.kid) if self.alg == "RS256" else OctKey.import_key(32 * "s"),
            algorithms=[self.alg],
        )
        return self._answer(
            request, {"id_token": token, "access_token": access, "token_type": "Bearer"}
        )

    async def _jwks(self, request: Request) -> Response:
        keys: list[JsonValue] = [dict(key(kid).as_dict(private=False)) for kid in self.published]
        return self._answer(request, {"keys": keys})

    async def _userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"].startswith("Bearer ")
        return self._answer(request, {"sub": "u-1", **self.userinfo})

    def _client(self, request: Request) -> tuple[str, ...]:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        assert scheme == "Basic"
        return tuple(map(unquote_plus, base64.b64decode(given).decode().split(":", 1)))

    def _answer(self, request: Request, found: Mapping[str, JsonValue]) -> Response:
        self.calls.append(request.url.path)
        return JSONResponse({"error": "down"}, 503) if self.fails else JSONResponse(found)


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

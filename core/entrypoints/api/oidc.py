"""An OpenID Connect provider, as the console asks it who somebody is."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx
from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]
from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from pydantic import BaseModel, JsonValue, SecretStr, TypeAdapter, ValidationError

from core.domain.errors import DependencyDown, Refused
from core.domain.http_origin import verification
from core.domain.messages import Message
from core.domain.models.access import ClaimGrant, Role, SecureUrl, SignIn
from core.entrypoints.auth import LONGEST_NAME, Grant

TIMEOUT_SECONDS = 10.0
KEPT_SECONDS = 3_600.0  # what the provider says about itself
LEEWAY_SECONDS = 60
MOST_BYTES = 2**20
# None with a shared secret: whoever knows the public keys could sign with one of those.
_ALGORITHMS = ("RS256", "PS256", "ES256", "RS384", "PS384", "ES384", "RS512", "PS512", "ES512")
_OBJECT = TypeAdapter[dict[str, JsonValue]](dict[str, JsonValue])
Claims = Mapping[str, JsonValue]


class Metadata(BaseModel):
    """What a provider says about itself: the part that is needed of OpenID Connect Discovery."""

    issuer: str
    authorization_endpoint: SecureUrl
    token_endpoint: SecureUrl
    jwks_uri: SecureUrl
    userinfo_endpoint: SecureUrl | None = None
    end_session_endpoint: SecureUrl | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class Tokens(BaseModel):
    """What the token endpoint answers."""

    id_token: str
    access_token: str = ""


class Begun(BaseModel):
    """A sign-in that has begun: what the browser keeps of it until it comes back."""

    state: str
    nonce: str
    verifier: str
    wanted: str


@dataclass
class Provider:
    """The provider of a configuration; `secret` is the client's, None of a public one."""

    config: SignIn
    secret: SecretStr | None = None
    clock: Callable[[], float] = time.monotonic
    _metadata: Metadata | None = None
    _read_at: float = 0.0
    _keys: KeySet | None = field(default=None, repr=False)

    async def begin(self, redirect_uri: str, wanted: str) -> tuple[str, Begun]:
        """Return the address at which a person signs in, and what to keep of it.

        Raises DependencyDown.
        """
        metadata = await self._about()
        begun = Begun(
            state=secrets.token_urlsafe(24),
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            wanted=wanted,
        )
        query = {
            "response_type": "code",
            "client_id": self.config.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self.config.scopes),
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": create_s256_code_challenge(begun.verifier),
            "code_challenge_method": "S256",
        }
        url = httpx.URL(metadata.authorization_endpoint).copy_merge_params(query)
        return str(url), begun

    async def finish(self, code: str, begun: Begun, redirect_uri: str) -> Sequence[Grant]:
        """Return what the person who signed in may do, one grant a tenant; none without a role.

        Raises Refused if the provider's answer does not hold, DependencyDown.
        """
        metadata = await self._about()
        tokens = await self._exchange(metadata, code, begun, redirect_uri)
        claims = await self._verified(metadata, tokens, begun.nonce)
        if metadata.userinfo_endpoint and self._lacks(claims):
            told = await self._userinfo(metadata.userinfo_endpoint, tokens.access_token)
            if told.get("sub") != claims["sub"]:
                raise Refused(Message("sign_in.other_person"))
            claims = {**told, **claims}
        return self._grants(claims)

    async def logout_url(self, back: str) -> str | None:
        """Return where a person signs out at the provider, None if it has no such place."""
        end = (await self._about()).end_session_endpoint
        if end is None:
            return None
        query = {"client_id": self.config.client_id, "post_logout_redirect_uri": back}
        return str(httpx.URL(end).copy_merge_params(query))

    async def _about(self) -> Metadata:
        """Return what the provider says about itself, read at most once an hour."""
        if self._metadata is not None and self.clock() - self._read_at < KEPT_SECONDS:
            return self._metadata
        issuer = self.config.issuer
        url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            found = Metadata.model_validate(await self._get(url))
        except ValidationError as error:
            raise self._odd(error.errors()[0]["type"]) from None
        if found.issuer != issuer:
            raise self._odd(Message("sign_in.other_issuer", issuer=found.issuer[:200]))
        self._metadata, self._read_at = found, self.clock()
        return found

    async def _exchange(
        self, metadata: Metadata, code: str, begun: Begun, redirect_uri: str
    ) -> Tokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": begun.verifier,
            "client_id": self.config.client_id,
        }
        auth = None
        if self.secret is not None:
            secret = self.secret.get_secret_value()
            if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
                auth = httpx.BasicAuth(_quoted(self.config.client_id), _quoted(secret))
            else:
                form["client_secret"] = secret
        url = metadata.token_endpoint
        answered = await self._asked(httpx.Request("POST", url, data=form), auth)
        try:
            return Tokens.model_validate(answered)
        except ValidationError:
            raise self._odd("no id_token") from None

    async def _verified(self, metadata: Metadata, tokens: Tokens, nonce: str) -> Claims:
        """Return the claims of an ID token that is the provider's, for us, now and for this call.

        A key that is not known, or fits no more, is looked up once: providers change theirs.
        """
        known = self._keys
        keys = known or await self._fetched_keys(metadata)
        try:
            return self._claims(tokens, keys, nonce)
        except (InvalidKeyIdError, BadSignatureError) as error:
            if known is None:
                raise _invalid(error) from None
        except (JoseError, ValueError) as error:
            raise _invalid(error) from None
        try:
            return self._claims(tokens, await self._fetched_keys(metadata), nonce)
        except (JoseError, ValueError) as error:
            raise _invalid(error) from None

    def _claims(self, tokens: Tokens, keys: KeySet, nonce: str) -> Claims:
        decoded = jwt.decode(tokens.id_token, keys, algorithms=[*_ALGORITHMS])
        client = self.config.client_id
        found = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "value": self.config.issuer},
                "aud": {"essential": True, "values": [*(self.config.audiences or (client,))]},
            },
            params={"nonce": nonce, "client_id": client, "access_token": tokens.access_token},
        )
        found.validate(now=int(time.time()), leeway=LEEWAY_SECONDS)
        return _OBJECT.validate_python(dict(found))

    async def _fetched_keys(self, metadata: Metadata) -> KeySet:
        answered = await self._get(metadata.jwks_uri)
        try:
            self._keys = KeySet.import_key_set(answered)  # type: ignore[arg-type]
        except (JoseError, ValueError, KeyError, TypeError):
            raise self._odd("jwks") from None
        return self._keys

    def _lacks(self, claims: Claims) -> bool:
        """Whether a claim that the configuration uses is missing."""
        wanted = {one.claim for one in self.config.grants}
        wanted |= {one.tenant_claim for one in self.config.grants if one.tenant_claim}
        named = any(_value(claims, name) for name in self.config.name_claims if name != "sub")
        return not named or any(_value(claims, name) is None for name in wanted)

    async def _userinfo(self, url: str, access_token: str) -> Claims:
        headers = {"Authorization": f"Bearer {access_token}"}
        return await self._asked(httpx.Request("GET", url, headers=headers))

    def _grants(self, claims: Claims) -> Sequence[Grant]:
        """Return the roles of a person by tenant; those for all tenants count in each."""
        by_tenant: dict[str | None, set[Role]] = {}
        for given in self.config.grants:
            if given.value in _values(claims, given.claim):
                for tenant in _tenants(given, claims):
                    by_tenant.setdefault(tenant, set()).update(given.roles)
        everywhere = by_tenant.get(None, set())
        name, subject = self._name(claims), f"{self.config.issuer} {claims['sub']}"
        return [
            Grant(
                name=name,
                tenant_id=tenant,
                roles=tuple(role for role in Role if role in roles | everywhere),
                subject=subject,
            )
            for tenant, roles in sorted(by_tenant.items(), key=lambda item: item[0] or "")
        ]

    def _name(self, claims: Claims) -> str:
        """Return by what a person is known; an address that nobody has verified is not."""
        for claim in (*self.config.name_claims, "sub"):
            value = _value(claims, claim)
            is_unverified = claim == "email" and claims.get("email_verified") is False
            if isinstance(value, str) and value.strip() and not is_unverified:
                kept = "".join(char for char in value if char.isprintable()).strip()
                if kept:
                    return kept[:LONGEST_NAME]
        return str(claims["sub"])[:LONGEST_NAME]

    async def _get(self, url: str) -> Claims:
        return await self._asked(httpx.Request("GET", url))

    async def _asked(self, request: httpx.Request, auth: httpx.Auth | None = None) -> Claims:
        """Return the JSON object that the provider answers. Raises DependencyDown, Refused."""
        verify = verification(str(request.url))
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, verify=verify) as client:
                answer = await client.send(request, auth=auth)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._down(type(error).__name__) from None
        if answer.status_code >= 500:
            raise self._down(Message("sign_in.status", status=answer.status_code))
        try:
            found = _OBJECT.validate_json(answer.content[:MOST_BYTES])
        except ValueError:
            raise self._odd(Message("sign_in.status", status=answer.status_code)) from None
        if not answer.is_success:
            code = found.get("error")
            raise Refused(Message("sign_in.refused", why=_code(code)))
        return found

    def _down(self, why: str) -> DependencyDown:
        return DependencyDown(Message("sign_in.down", issuer=self.config.issuer, why=why))

    def _odd(self, why: str) -> DependencyDown:
        return DependencyDown(Message("sign_in.odd", issuer=self.config.issuer, why=why))


def _invalid(error: Exception) -> Refused:
    """Return why an ID token does not count: the code of the rule, never what the token says."""
    said = error.error if isinstance(error, JoseError) else type(error).__name__
    claim = str(getattr(error, "claim", "") or "")
    return Refused(Message("sign_in.invalid", why=": ".join(filter(None, (said, claim)))))


def _code(value: JsonValue) -> str:
    """Return an error code of OAuth; other text of the provider is not repeated."""
    text = value if isinstance(value, str) else ""
    return text if text.isascii() and text.replace("_", "").isalnum() and len(text) < 60 else "?"


def _quoted(text: str) -> str:
    """Return a name or a secret as RFC 6749 has it in a header."""
    return str(httpx.QueryParams({"": text}))[1:]


def _value(claims: Claims, name: str) -> JsonValue:
    """Return a claim; with dots in its name, one inside another. None if there is none."""
    if name in claims:
        return claims[name]
    found: JsonValue = dict(claims)
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _values(claims: Claims, name: str) -> Iterator[str]:
    value = _value(claims, name)
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str | int) and not isinstance(one, bool):
            yield str(one)
        elif isinstance(one, bool):
            yield str(one).lower()


def _tenants(given: ClaimGrant, claims: Claims) -> Sequence[str | None]:
    if given.all_tenants:
        return [None]
    if given.tenant_claim is not None:
        return [one for one in _values(claims, given.tenant_claim) if one.strip()]
    return given.tenants

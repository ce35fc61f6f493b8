"""A webhook goes to an address that was checked, and only to who is certified for its name."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from core.domain.models.deliveries import Outcome
from tests.unit.test_hooks_http import NOTICE, Receiver, answer, asker

HOST = "hooks.example.com"


async def here(host: str, _: int) -> Sequence[str]:
    assert host == HOST
    return ["127.0.0.1"]


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def certificate(
    name: str, issuer: str, key: ec.EllipticCurvePrivateKey, signs: ec.EllipticCurvePrivateKey
) -> bytes:
    """Return a certificate as PEM; that of `issuer` itself may issue others."""
    now, is_ca = datetime.now(UTC), name == issuer
    whose: x509.GeneralName = x509.DNSName(name)
    if name[:1].isdigit():
        whose = x509.IPAddress(ip_address(name))
    public, of_issuer = key.public_key(), signs.public_key()
    made = (
        x509.CertificateBuilder(named(issuer), named(name), public, x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(_use(is_ca=is_ca), critical=True)  # asked for since Python 3.13
        .add_extension(x509.SubjectAlternativeName([whose]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(of_issuer), critical=False
        )
    )
    return made.sign(signs, SHA256()).public_bytes(Encoding.PEM)


def _use(*, is_ca: bool) -> x509.KeyUsage:
    of_others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    none = dict.fromkeys((*of_others, "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(digital_signature=True, key_cert_sign=is_ca, crl_sign=is_ca, **none)


def served(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the context of a server certified for a name, and of a client who trusts its CA."""
    of_ca, of_server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    (chain := folder / "chain.pem").write_bytes(
        of_server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate(name, "ca", of_server, of_ca)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain)
    client = ssl.create_default_context(cadata=certificate("ca", "ca", of_ca, of_ca).decode())
    return server, client


@pytest.mark.parametrize(
    ("name", "outcome", "came"),
    [
        (HOST, Outcome.DONE, 1),
        ("other.example.com", Outcome.LATER, 0),
        ("127.0.0.1", Outcome.LATER, 0),  # the address that is connected to proves nothing
    ],
)
async def test_only_who_is_certified_for_the_name_is_told(
    name: str, outcome: Outcome, came: int, tmp_path: Path
) -> None:
    server, client = served(name, tmp_path)
    async with Receiver(answer(204)).listening(server) as receiver:
        url = f"https://{HOST}:{receiver.port}/in"
        one = asker(url, resolve=here, trusted=client)
        sent = await one.ask(NOTICE)
        await one.close()
    assert (sent.outcome, len(receiver.came)) == (outcome, came)


async def test_a_certificate_of_nobody_known_is_not_enough(tmp_path: Path) -> None:
    server, _ = served(HOST, tmp_path)
    async with Receiver(answer(204)).listening(server) as receiver:
        one = asker(f"https://{HOST}:{receiver.port}/in", resolve=here)
        sent = await one.ask(NOTICE)
        await one.close()
    assert (sent.outcome, receiver.came) == (Outcome.LATER, [])

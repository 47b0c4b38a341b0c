"""Addresses that are not those of a Label Studio, or of one whose certificate is not trusted."""

import json
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from annotation.keys import CA, KEY, URL, find_connection
from toolkit.cli import main

SECRET = "0123456789abcdef0123456789abcdef01234567"


class Page(BaseHTTPRequestHandler):
    """Some other program."""

    answer, status = b"<html>Welcome to our wiki</html>", 200

    def do_GET(self):
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_):
        pass


class Whoami(Page):
    answer = json.dumps({"email": "ann@example.org"}).encode()


class Nothing(Page):
    answer, status = b"not found", 404


class Forbidden(Page):
    answer, status = b"log in first", 401


@contextmanager
def served(handler, certificate=None):
    server = HTTPServer(("127.0.0.1", 0), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def certificate(tmp_path):
    """A certificate that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "our own authority")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "authority.pem"
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(pem) + secret)
    return path


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in (URL, CA):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("WARMKIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def connect(*arguments):
    result = CliRunner().invoke(main, ["annotate", "connect", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.mark.parametrize("handler", [Page, Nothing, Forbidden])
@pytest.mark.parametrize("check", [(), ("--check",)])
def test_an_address_that_is_no_label_studio_is_named_as_such(handler, check, home):
    with served(handler) as url:
        result = connect(url, *check)
    assert result.exit_code == 1
    assert "this is no Label Studio" in result.output and url in result.output
    assert not home.exists()


def test_a_certificate_that_is_not_trusted_names_the_option_and_the_option_helps(certificate, home):
    with served(Whoami, certificate) as url:
        refused = connect(url)
        assert (refused.exit_code, home.exists()) == (1, False)
        assert "its certificate is not trusted" in refused.output and "--ca FILE" in refused.output
        trusted = connect(url, "--ca", certificate)
        assert trusted.exit_code == 0, trusted.output
        assert connect(url).exit_code == 0  # it is kept for that address
    assert find_connection().ca == str(certificate)


def test_a_file_that_is_no_certificate_is_told(tmp_path, home):
    other = tmp_path / "notes.txt"
    other.write_text("not a certificate")
    result = connect("https://127.0.0.1:9", "--ca", other)
    assert (result.exit_code, home.exists()) == (1, False)
    assert f"{other}: it is no file with certificates" in result.output

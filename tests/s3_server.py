"""A server that speaks as much of S3 as Arrow and Ray ask for, and checks the signature of every request.

The client is the real one. https://docs.aws.amazon.com/AmazonS3/latest/API/ has the operations and
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html the signature.
"""

import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from threading import Thread
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

AUTHORIZATION = re.compile(r"\S+ Credential=([^/]+)/(\S+), SignedHeaders=(\S+), Signature=(\w+)")


class S3:
    """What the server holds: `files` by "bucket/key". `key` and `secret` let one in."""

    key, secret = "warmkit-test-key", "warmkit-test-secret"

    def __init__(self, *buckets: str) -> None:
        self.buckets, self.files, self.uploads = (
            set(buckets),
            dict[str, bytes](),
            dict[str, dict[int, bytes]](),
        )
        self.versions: dict[str, int] = {}
        self.requests: list[str] = []
        self.url = ""

    @property
    def env(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def put(self, name: str, content: bytes) -> None:
        self.files[name] = content
        self.versions[name] = self.versions.get(name, 1_000_000_000) + 1  # seconds: when it was changed


@contextmanager
def serving(store: S3) -> Iterator[S3]:
    """The server, on a free port of this machine, until the end of the block."""

    class Handler(_Handler):
        s3 = store

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    s3: S3

    def handle_any(self) -> None:
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        body = self.body()
        bucket, _, key = unquote(url.path).removeprefix("/").partition("/")
        self.s3.requests.append(f"{self.command} {self.path}")
        if refused := self.refusal(url.path, query):
            self.error(403, refused)
        elif bucket not in self.s3.buckets:
            self.error(404, "NoSuchBucket")
        elif not key:
            self.answer(b"") if self.command == "HEAD" else self.bucket(bucket, query, body)
        else:
            self.object(f"{bucket}/{key}", query, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    def body(self) -> bytes:
        """What is sent, in one piece or in chunks of HTTP, and within them in chunks of S3."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        in_chunks = self.headers.get("x-amz-content-sha256", "").startswith("STREAMING")
        return _unchunked(body) if in_chunks else body

    def refusal(self, path: str, query: dict[str, str]) -> str | None:
        """Why a request is not let in: no key, another one, or a signature that another secret made."""
        found = AUTHORIZATION.match(self.headers.get("Authorization", ""))
        if not found:
            return "AccessDenied"
        key, scope, names, signature = found.groups()
        if key != self.s3.key:
            return "InvalidAccessKeyId"
        asked = "&".join(f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in sorted(query.items()))
        headers = "".join(f"{name}:{' '.join(self.headers[name].split())}\n" for name in names.split(";"))
        lines = (self.command, path, asked, headers, names, self.headers["x-amz-content-sha256"])
        request = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        to_sign = "\n".join(("AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, request))
        secret = f"AWS4{self.s3.secret}".encode()
        for part in (*scope.split("/"), to_sign):
            secret = hmac.digest(secret, part.encode(), "sha256")
        return None if hmac.compare_digest(secret.hex(), signature) else "SignatureDoesNotMatch"

    def bucket(self, name: str, query: dict[str, str], body: bytes) -> None:
        if self.command == "POST":  # DeleteObjects
            for key in re.findall(r"<Key>(.*?)</Key>", body.decode()):
                self.s3.files.pop(f"{name}/{unescape(key)}", None)
            self.xml("<DeleteResult/>")
            return
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        rows, folders = [], set()
        for path, content in sorted(self.s3.files.items()):
            held, _, key = path.partition("/")
            if held != name or not key.startswith(prefix):
                continue
            rest = key.removeprefix(prefix)
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
            else:
                when = datetime.fromtimestamp(self.s3.versions[path], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                rows.append(
                    f"<Contents><Key>{escape(key)}</Key><LastModified>{when}</LastModified>"
                    f"<Size>{len(content)}</Size></Contents>"
                )
        common = [
            f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in sorted(folders)
        ]
        count = f"<KeyCount>{len(rows) + len(common)}</KeyCount><IsTruncated>false</IsTruncated>"
        self.xml(f"<ListBucketResult>{count}{''.join(rows + common)}</ListBucketResult>")

    def object(self, name: str, query: dict[str, str], body: bytes) -> None:
        if self.command == "PUT" and "partNumber" in query:
            self.s3.uploads[query["uploadId"]][int(query["partNumber"])] = body
            self.answer(b"", ETag='"part"')
        elif self.command == "PUT":
            self.s3.put(name, body)
            self.answer(b"", ETag='"whole"')
        elif self.command == "POST" and "uploads" in query:
            upload = token_hex(8)
            self.s3.uploads[upload] = {}
            self.xml(
                f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            )
        elif self.command == "POST":
            parts = self.s3.uploads.pop(query["uploadId"])
            self.s3.put(name, b"".join(parts[number] for number in sorted(parts)))
            self.xml("<CompleteMultipartUploadResult><ETag>whole</ETag></CompleteMultipartUploadResult>")
        elif self.command == "DELETE":
            self.s3.files.pop(name, None)
            self.answer(b"", 204)
        elif name not in self.s3.files:
            self.error(404, "NoSuchKey")
        else:
            self.content(self.s3.files[name], self.s3.versions[name])

    def content(self, content: bytes, changed: int) -> None:
        part, status = content, 200
        if found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            part, status = content[int(found[1]) : int(found[2] or len(content)) + 1], 206
        self.answer(part, status, Last_Modified=formatdate(changed, usegmt=True), ETag=f'"{changed}"')

    def error(self, status: int, code: str) -> None:
        self.xml(f"<Error><Code>{code}</Code><Message>{code} {self.s3.secret}</Message></Error>", status)

    def xml(self, text: str, status: int = 200) -> None:
        self.answer(text.encode(), status, Content_Type="application/xml")

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


def _unchunked(body: bytes) -> bytes:
    """The content of a body that is sent in chunks, each after a line with its length."""
    content = b""
    while body:
        line, _, body = body.partition(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        if not size:
            break
        content, body = content + body[:size], body[size + 2 :]
    return content

"""Serves the ClickHouse engine of the package chdb over the HTTP interface of ClickHouse, for tests. Prints its port.

Arguments: directory, port, and optionally the files of a certificate and its key. Requests with a user need this user and password.
"""

import base64
import email
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

session = Session(sys.argv[1])
lock = threading.Lock()
# Settings of the session. Each `set` takes as long as a small query, and clients send the same values with every request.
known = {}
user = b"tester:planted-secret"
# Parameters of the interface that are not settings, and one that only it reads.
notSettings = ["query", "query_id", "database", "default_format", "wait_end_of_query"]


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(200, b"Ok.\n")

    def do_POST(self):
        query = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.read_body()
        given = self.headers.get("authorization")
        if given is not None and given != "Basic " + base64.b64encode(user).decode():
            self.reply(403, b"Code: 516. DB::Exception: tester: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)")
            return
        content_type = self.headers.get("content-type", "")
        if content_type.startswith("multipart/form-data"):
            form = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
            for part in form.get_payload():
                query[part.get_param("name", header="content-disposition")] = part.get_payload(decode=True).decode()
            body = b""
        text = "\n".join(part for part in (query.get("query", ""), body.decode()) if part)
        names = [name for name in query if name.startswith("param_")]
        settings = [name for name in query if name not in notSettings and not name.startswith("param_")]
        try:
            with lock:
                for name in settings:
                    if known.get(name) != query[name]:
                        session.query(f"set {name} = '{query[name]}'")
                        known[name] = query[name]
                result = session.query(text, "JSONEachRow", params={name[6:]: query[name] for name in names})
                rows = result.bytes() or b""
        except Exception as error:
            self.reply(500, str(error).encode())
            return
        self.reply(200, rows)

    def read_body(self):
        if self.headers.get("transfer-encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        body = b""
        while True:
            length = int(self.rfile.readline(), 16)
            body += self.rfile.read(length)
            self.rfile.readline()
            if length == 0:
                return body

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Front)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()

"""Serves the ClickHouse engine of the package chdb over the HTTP interface of ClickHouse, for tests. Prints its port."""

import email
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

session = Session(sys.argv[1])
lock = threading.Lock()
# Parameters of the interface that are not settings, and one that only it reads.
notSettings = ["query", "query_id", "database", "default_format", "wait_end_of_query"]


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(200, b"Ok.\n")

    def do_POST(self):
        query = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.read_body()
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
                    session.query(f"set {name} = '{query[name]}'")
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
print(server.server_address[1], flush=True)
server.serve_forever()

"""Runs the compatibility kit of A2A (github.com/a2aproject/a2a-tck), unmodified, against one agent of a gateway.

usage: a2a_tck.py KIT VERSION CARD_URL, with the Python environment of the kit. KIT is a checkout, VERSION 0.3 or 1.0, CARD_URL the
agent's folder, http://HOST/a/SLUG. Prints {"passed": count, "skipped": count, "failed": [test]}.
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection"}


class Root(http.server.BaseHTTPRequestHandler):
    """The gateway, with the agent's card where the kit for 0.3 looks for it: at the root of the host."""

    upstream = ""
    folder = ""

    def forward(self):
        path = self.folder + self.path if self.path.startswith("/.well-known/") else self.path
        length = int(self.headers.get("content-length") or 0)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        body = self.rfile.read(length) if length else None
        request = urllib.request.Request(self.upstream + path, data=body, method=self.command, headers=headers)
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = forward

    def log_message(self, *_):
        pass


def arguments(version, card_url):
    """Of pytest, as the kit's own runner gives them."""
    if version == "1.0":
        return ["tests/compatibility/", f"--sut-host={card_url}", "--transport=jsonrpc"]
    parts = urllib.parse.urlsplit(card_url)
    Root.upstream, Root.folder = f"{parts.scheme}://{parts.netloc}", parts.path
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Root)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}{parts.path}/a2a"
    category = "mandatory_jsonrpc or mandatory_protocol"
    return ["tests/mandatory/", f"--sut-url={endpoint}", "--test-scope=all", "-m", category]


def main():
    kit, version, card_url = sys.argv[1:]
    report = os.path.join(tempfile.mkdtemp(), "report.xml")
    command = [sys.executable, "-m", "pytest", *arguments(version, card_url), "-q", "--tb=short", f"--junitxml={report}"]
    run = subprocess.run(command, cwd=kit, capture_output=True, text=True)
    if not os.path.exists(report):
        sys.exit(f"the kit did not run: {run.stdout}{run.stderr}")
    print(run.stdout, file=sys.stderr)
    told = {"passed": 0, "skipped": 0, "failed": []}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            told["failed"].append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in outcomes:
            told["skipped"] += 1
        else:
            told["passed"] += 1
    print(json.dumps(told))


main()

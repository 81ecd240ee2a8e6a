"""An endpoint of webhooks that verifies what it gets with PyPI's `standardwebhooks`: `python verify_webhook.py SECRET`.

Prints its port, then for each delivery a line of JSON: what it got, and which libraries accept it.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

SECRET = sys.argv[1]
# A secret in another form than `whsec_…` is the key itself.
VERIFIER = Webhook(SECRET if SECRET.startswith("whsec_") else SECRET.encode())


def verify(body, headers):
    """Which libraries accept the bytes, and what the others say."""
    try:
        VERIFIER.verify(body, headers)
        return ["standardwebhooks"], {}
    except WebhookVerificationError as error:
        return [], {"standardwebhooks": str(error)}


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        verified, refused = verify(body, headers)
        # One byte more is another message.
        forged, _ = verify(body + " ", headers)
        told = {"id": headers["webhook-id"], "body": json.loads(body), "verified": verified, "refused": refused, "forged": forged}
        print(json.dumps(told), flush=True)
        self.send_response(200 if verified else 400)
        self.end_headers()

    def log_message(self, *_):
        """The lines above are all that it prints."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
print(server.server_address[1], flush=True)
server.serve_forever()

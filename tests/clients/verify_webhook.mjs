// An endpoint of webhooks that verifies what it gets with npm's `standardwebhooks` and `svix`: `node verify_webhook.mjs SECRET`.
//
// Prints its port, then for each delivery a line of JSON: what it got, and which libraries accept it.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';

const [secret] = process.argv.slice(2);
// A secret in another form than `whsec_…` is the key itself.
const options = secret.startsWith('whsec_') ? undefined : { format: 'raw' };
const verifiers = { standardwebhooks: new Webhook(secret, options), svix: new SvixWebhook(secret, options) };

/** Which libraries accept the bytes, and what the others say. */
function verify(body, headers) {
  const verified = [];
  const refused = {};
  for (const [name, verifier] of Object.entries(verifiers)) {
    try {
      verifier.verify(body, headers);
      verified.push(name);
    } catch (error) {
      refused[name] = error.message;
    }
  }
  return { verified, refused };
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts).toString();
    const { verified, refused } = verify(body, request.headers);
    // One byte more is another message.
    const forged = verify(`${body} `, request.headers).verified;
    console.log(JSON.stringify({ id: request.headers['webhook-id'], body: JSON.parse(body), verified, refused, forged }));
    response.writeHead(verified.length > 0 ? 200 : 400).end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

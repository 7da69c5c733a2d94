/**
 * A back end: it opens a room, gives tokens to its users, and receives webhooks.
 *
 *     POST /tokens    {"username":"Ann","thumbprint":"..."}, for a user who is logged in
 *     POST /webhooks  for Boxoffice
 */
import { createServer } from 'node:http';
import { Boxoffice, BoxofficeError, verifyWebhookEvents, WebhookRefused } from '@boxoffice/sdk';

const BODY_BYTES_MAX = 1024 * 1024;
const ROOM = 'lobby';

const { BOXOFFICE_URL: url, BOXOFFICE_CONTROL_URL: controlUrl, BOXOFFICE_API_KEY: apiKey } = process.env;
const boxoffice = new Boxoffice({ url, controlUrl, apiKey });

/** An answer other than 200. */
class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function openRoom() {
  try {
    await boxoffice.rooms.create({ room: ROOM, policy: { maxParticipants: 50 } });
  } catch (error) {
    if (!(error instanceof BoxofficeError) || error.kind !== 'Exists') throw error;
  }
}

/** Your own log-in belongs here: who asks, and may they come in? */
async function giveToken(body) {
  const { username, thumbprint } = JSON.parse(body);
  const { token, expireTime } = await boxoffice.tokens.mint({
    room: ROOM,
    username,
    deviceThumbprint: thumbprint,
    role: 'host',
  });
  return { token, expires_at: expireTime };
}

const seen = new Set();

/** An event may come twice. Keep the ids of those that you handled in your database. */
function receiveEvents(body, headers) {
  for (const { id, type } of verifyWebhookEvents(process.env.WEBHOOK_SECRET ?? '', headers, body)) {
    if (!seen.has(id)) console.log(`event ${type}`);
    seen.add(id);
  }
  return {};
}

const ROUTES = { 'POST /tokens': giveToken, 'POST /webhooks': receiveEvents };

async function answer(request) {
  const route = ROUTES[`${request.method} ${request.url}`];
  if (!route) throw new Refused(404, 'there is no such page');
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Refused(413, 'the body is too large');
    chunks.push(chunk);
  }
  return await route(Buffer.concat(chunks), request.headers);
}

function statusOf(error) {
  if (error instanceof Refused) return error.status;
  if (error instanceof WebhookRefused) return 401;
  // JSON that is none, and values that the SDK refuses before it sends anything.
  if (error instanceof SyntaxError || error instanceof TypeError) return 400;
  if (!(error instanceof BoxofficeError)) return 500;
  return { Invalid: 400, Denied: 403, Precondition: 409 }[error.kind] ?? 503;
}

const server = createServer(async (request, response) => {
  response.setHeader('content-type', 'application/json');
  try {
    response.end(JSON.stringify(await answer(request)));
  } catch (error) {
    const status = statusOf(error);
    if (status >= 500) console.error(error);
    response.writeHead(status).end(JSON.stringify({ error: status >= 500 ? 'try again' : error.message }));
  }
});

await openRoom();
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => {
  server.close();
  boxoffice.close();
});

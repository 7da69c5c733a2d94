/**
 * A WHIP server (RFC 9725) on this machine, for encoders that know bearer tokens alone. It hands their offers on to a relay,
 * with the token of a device and the proofs that encoders cannot make. Media does not come this way.
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ConnectError, type Device, type Renewable, type Session } from '../device/index.ts';
import { ProvedRequests } from '../device/proved-requests.ts';

export interface WhipProxyOptions {
  /** Base URL of the relay. */
  readonly relay: string;
  readonly device: Device;
  readonly session: Session<Renewable>;
  /** The room of the token. */
  readonly room: string;
  /** What encoders send as their bearer token. */
  readonly streamKey: string;
  /** Called with what happened, for a log. */
  readonly log: (line: string) => void;
}

/** What an encoder publishes. */
interface Publication {
  readonly location: string;
  readonly requests: ProvedRequests;
}

const BODY_BYTES_MAX = 64 * 1024;
const PREFIX = '/whip/';

/** The server, which does not listen yet. */
export function createWhipProxy(options: WhipProxyOptions): Server {
  const publications = new Map<string, Publication>();
  options.session.on('token', () => {
    for (const [id, { location, requests }] of publications) {
      requests.send('PATCH', location).catch((error) => {
        // The relay has ended it: the encoder went away, or was removed.
        if (error instanceof ConnectError && !error.retryable) publications.delete(id);
        options.log(`not renewed: ${error.message}`);
      });
    }
  });
  return createServer((request, response) => {
    answer(options, publications, request, response).catch((error) => {
      options.log(`${request.method} ${request.url}: ${error.message}`);
      // The relay broke off in the middle of its answer.
      if (response.headersSent) return void response.destroy();
      response.writeHead((error instanceof ConnectError && error.status) || 502, {
        'content-type': 'text/plain',
      });
      response.end(`${error.message}\n`);
    });
  });
}

async function answer(
  options: WhipProxyOptions,
  publications: Map<string, Publication>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url = '' } = request;
  // A page of the web could send requests to this machine, but does not know the key.
  if (!isKey(request.headers.authorization, options.streamKey)) {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('the bearer token is not the stream key\n');
    return;
  }
  const id = url.startsWith(PREFIX) ? url.slice(PREFIX.length) : '';
  const publication = publications.get(id);
  if (method === 'POST' && url === '/whip') await publish(options, publications, request, response);
  else if (!publication) response.writeHead(404).end('there is no such session\n');
  else if (method === 'PATCH') await trickle(publication, request, response);
  else if (method === 'DELETE') {
    publications.delete(id);
    await fetch(publication.location, { method });
    response.writeHead(200).end();
  } else response.writeHead(405, { allow: 'PATCH, DELETE' }).end();
}

async function publish(
  { relay, device, session, room, log }: WhipProxyOptions,
  publications: Map<string, Publication>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const offer = await bodyOf(request);
  const [, dtlsFingerprint] = /^a=fingerprint:sha-256 (\S+)/im.exec(offer) ?? [];
  if (dtlsFingerprint === undefined) {
    response.writeHead(400).end('the offer has no fingerprint of SHA-256\n');
    return;
  }
  const requests = new ProvedRequests({ device, token: () => session.grant.token, dtlsFingerprint });
  const url = `${relay.replace(/\/+$/, '')}/rooms/${encodeURIComponent(room)}/whip`;
  const answered = await requests.send('POST', url, offer);
  const location = new URL(answered.headers.get('location')!, url).href;
  const id = location.slice(location.lastIndexOf('/') + 1);
  publications.set(id, { location, requests });
  log('an encoder publishes');
  response.writeHead(201, { location: `${PREFIX}${id}`, 'content-type': 'application/sdp' });
  response.end(await answered.text());
}

/** Candidates need no proof. */
async function trickle(
  { location }: Publication,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const headers = { 'content-type': 'application/trickle-ice-sdpfrag' };
  const { status } = await fetch(location, { method: 'PATCH', headers, body: await bodyOf(request) });
  response.writeHead(status).end();
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > BODY_BYTES_MAX)
    throw new ConnectError('BODY_TOO_LARGE', 'the body is too large', 413, undefined);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // A length was not given, so this ends the connection.
    if (bytes > BODY_BYTES_MAX) {
      request.destroy();
      throw new Error('the body is too large');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function isKey(header = '', key: string): boolean {
  const [sent, known] = [Buffer.from(header), Buffer.from(`Bearer ${key}`)];
  return sent.length === known.length && timingSafeEqual(sent, known);
}

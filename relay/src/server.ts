/** The HTTP side: WHIP (RFC 9725), WHEP, and the events of a session. */
import type { Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { admit, renew } from './admission.ts';
import { EventStream } from './event-stream.ts';
import { isAddressed, type Kind, readCandidates, readOffer } from './offer.ts';
import { siteOf } from './places.ts';
import { Refused } from './refused.ts';
import type { Opened, Relay } from './relay.ts';
import type { Session } from './session.ts';
import type { Settings } from './settings.ts';

const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_MS_MAX = 15_000;
/** Node swaps the two limits of time if that for the headers is the longer one, which is a minute by default. */
const HTTP = { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 };

/** Pages of any origin may call it: what counts is the token and the proof. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, dpop, content-type',
  'access-control-expose-headers': 'location, publisher, dpop-nonce, www-authenticate',
  'access-control-max-age': '600',
};

type InRoom = {
  Params: { room: string };
  Querystring: { of?: string; encryption?: string };
  Body: string | undefined;
};
type OfSession = { Params: { id: string }; Body: string | undefined };

export function openServer(relay: Relay, settings: Settings): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: settings.trustProxy.length > 0 ? [...settings.trustProxy] : false,
    requestTimeout: REQUEST_MS_MAX,
    http: HTTP,
    // Sessions have ended by then. A connection that is kept alive would last another minute.
    forceCloseConnections: true,
  });
  // Each holds a descriptor, and without one no session begins. Those that wait for another request make room.
  app.server.maxConnections = settings.limits.connections;
  app.server.on('drop', () => app.server.closeIdleConnections());
  // Those of a proxy are of many participants, so the proxy bounds them.
  if (settings.trustProxy.length === 0) share(app.server, settings.limits.addressConnections);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({ ...CORS, 'dpop-nonce': relay.verifier.challenge(), 'cache-control': 'no-store' });
    done();
  });
  app.setErrorHandler((error, _request, reply) => refuse(reply, error, relay));
  app.setNotFoundHandler(() => {
    throw new Refused(404, 'NOT_FOUND', 'there is nothing at this address with this method');
  });
  app.options('*', (_request, reply) => reply.code(204).send());

  const claimOf = (request: FastifyRequest, fingerprint: string) => ({
    authorization: request.headers.authorization,
    proof: request.headers.dpop as string | undefined,
    method: request.method,
    url: `${settings.url}${request.url.split('?')[0]}`,
    address: request.ip,
    fingerprint,
  });
  const enter = async (request: FastifyRequest<InRoom>, direction: 'sendonly' | 'recvonly') => {
    const offer = readOffer(request.body ?? '', direction);
    const admission = await admit(relay.verifier, claimOf(request, offer.fingerprint));
    if (admission.room !== request.params.room)
      throw new Refused(403, 'OTHER_ROOM', 'the token is for another room');
    return { admission, offer, address: request.ip };
  };
  const created = (reply: FastifyReply, { session, answer, publisher }: Opened) => {
    if (publisher !== undefined) reply.header('publisher', encodeURIComponent(publisher));
    return reply.code(201).header('location', `/sessions/${session.id}`).type('application/sdp').send(answer);
  };
  const sessionOf = ({ params }: FastifyRequest<OfSession>): Session => {
    const session = relay.find(params.id);
    if (!session) throw new Refused(404, 'NO_SESSION', 'there is no such session');
    return session;
  };

  app.post<InRoom>('/rooms/:room/whip', async (request, reply) =>
    created(reply, await relay.publish(await enter(request, 'sendonly'), request.query.encryption)),
  );
  app.post<InRoom>('/rooms/:room/whep', async (request, reply) =>
    created(reply, await relay.subscribe(await enter(request, 'recvonly'), request.query.of)),
  );
  app.patch<OfSession>('/sessions/:id', async (request, reply) => {
    const session = sessionOf(request);
    if (request.headers['content-type'] === 'application/trickle-ice-sdpfrag') {
      trickle(session, request.body ?? '', settings.limits.candidates);
    } else if (request.headers['content-type'] === 'application/json') {
      session.muteOwn(readMuted(request.body ?? ''));
    } else {
      session.renewed(await renew(relay.verifier, session.admission, claimOf(request, session.fingerprint)));
    }
    return reply.code(204).send();
  });
  app.delete<OfSession>('/sessions/:id', (request, reply) => {
    sessionOf(request).end('LEFT');
    return reply.code(200).send();
  });
  app.get<OfSession>('/sessions/:id/events', (request, reply) => {
    const session = sessionOf(request);
    reply.hijack();
    session.follow(new EventStream(reply.raw, CORS));
    relay.tellPublishers(session.admission.roomUid, [session]);
  });
  app.get('/healthz', (_request, reply) => {
    const reason = relay.keyProblem;
    if (reason !== undefined) reply.code(503);
    return { status: reason ?? 'ok', ...relay.counts };
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4').send(await relay.metrics.render()),
  );
  return app;
}

/** Closes the connections of an address beyond its share. */
function share(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const site = siteOf(socket.remoteAddress ?? '') ?? '';
    const before = open.get(site) ?? 0;
    if (before >= most) return void socket.destroy();
    open.set(site, before + 1);
    socket.once('close', () => {
      const left = open.get(site)! - 1;
      if (left === 0) open.delete(site);
      else open.set(site, left);
    });
  });
}

const KINDS: readonly unknown[] = ['audio', 'video', 'screen'] satisfies Kind[];

/** What a participant wants to mute: `{ "muted": ["audio"] }`. */
function readMuted(body: string): Kind[] {
  try {
    const { muted } = JSON.parse(body) as { muted: unknown[] };
    if (muted.every((kind) => KINDS.includes(kind))) return [...new Set(muted as Kind[])].sort();
  } catch {
    // Neither is it JSON with a list.
  }
  throw new Refused(400, 'BODY_INVALID', 'the body must be {"muted": [...]} with audio, video or screen');
}

function trickle(session: Session, fragment: string, max: number): void {
  const found = readCandidates(fragment);
  session.candidates += found.length;
  if (session.candidates > max)
    throw new Refused(400, 'TOO_MANY_CANDIDATES', 'the session has too many candidates');
  try {
    for (const candidate of found) if (isAddressed(candidate)) session.peer?.addCandidate(candidate);
  } catch (cause) {
    throw new Refused(
      400,
      'CANDIDATE_INVALID',
      `a candidate was not understood: ${(cause as Error).message}`,
    );
  }
}

/** What the framework or a defect threw. */
function refusalOf(error: unknown): Refused {
  const { statusCode = 500, code } = error as { statusCode?: number; code?: string };
  if (statusCode === 413) return new Refused(413, 'BODY_TOO_LARGE', 'the body is larger than 64 KiB');
  // The client broke off (ECONNRESET), or sent what is no request: then the relay has not failed.
  if (statusCode < 500 || code === 'ECONNRESET')
    return new Refused(400, 'REQUEST_INVALID', 'the request is not valid');
  return new Refused(500, 'INTERNAL', 'the relay failed');
}

function refuse(reply: FastifyReply, error: unknown, { metrics }: Relay) {
  const known = error instanceof Refused ? error : refusalOf(error);
  if (known.status === 500) console.error(error);
  if (known.status === 401) {
    const problem =
      known.code === 'PROOF_MISSING' || known.code === 'CHALLENGE_UNUSABLE'
        ? 'use_dpop_nonce'
        : 'invalid_token';
    reply.header('www-authenticate', `DPoP error="${problem}"`);
  }
  const { code, message, reason } = known;
  metrics.refused(code);
  return reply.code(known.status).send({ error: { code, message, ...(reason !== undefined && { reason }) } });
}

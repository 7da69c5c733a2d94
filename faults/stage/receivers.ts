/** Receivers of webhooks: each path is one, which accepts, refuses, cuts off or hangs as it is told. */
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '../journal.ts';

export type Manner = 'accept' | 'refuse' | 'cut off' | 'hang';

/** Longer than a quick receiver, and shorter than the service waits. */
const HANG_MS = 3_000;

/** Requests of each path. */
const KEPT = 5;

interface Accepted {
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface WireEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly schema_version: number;
  readonly timestamp: string;
  readonly data?: { readonly room?: { readonly uid?: string }; readonly room_uid?: string };
}

/** What is written down of an event. */
export function noteOf({ id, seq, type, schema_version, timestamp, data }: WireEvent) {
  const told = JSON.stringify([schema_version, timestamp, data]);
  return { id, seq, type, digest: createHash('sha256').update(told).digest('base64url') };
}

/** As the answer to the creation of a webhook has them: `whsec_`, `whpk_`, and base64. */
export interface WebhookKeys {
  readonly secret: string;
  readonly public_key: string;
}

/** What a receiver that has the keys sees of a request: which signatures verify, and how old it is. Source: Standard Webhooks 1.0.0. */
export function describeRequest(headers: IncomingHttpHeaders, body: string, keys: WebhookKeys) {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures } = headers;
  const content = Buffer.from(`${id}.${seconds}.${body}`);
  const key = Buffer.from(keys.secret.replace('whsec_', ''), 'base64');
  const x = Buffer.from(keys.public_key.replace('whpk_', ''), 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const verifies: Record<string, (signature: string) => boolean> = {
    v1: (signature) => signature === createHmac('sha256', key).update(content).digest('base64'),
    v1a: (signature) => verify(null, content, publicKey, Buffer.from(signature, 'base64')),
  };
  const verified = String(signatures)
    .split(' ')
    .map((each) => each.split(',', 2) as [string, string])
    .flatMap(([version, signature]) => (verifies[version]?.(signature) ? [version] : []));
  return { verified, ageSeconds: Math.round(Date.now() / 1000 - Number(seconds)) };
}

/** The number of the service that has a port of this machine; `undefined`: it is not known. */
export type FindSender = (port: number) => number | undefined;

export class Receivers {
  readonly #journal: Journal;
  /** Connections have one sender. It is looked for while its process is there. */
  readonly #senders = new WeakMap<Socket, number>();
  readonly #server: Server;
  readonly #manners = new Map<string, Manner>();
  readonly #keys = new Map<string, WebhookKeys>();
  readonly #disturbed = new Map<string, number>();
  /** The newest requests that each path has accepted, the oldest first. */
  readonly #accepted = new Map<string, Accepted[]>();

  private constructor(journal: Journal, server: Server) {
    this.#journal = journal;
    this.#server = server;
  }

  static async open(journal: Journal, findSender: FindSender = () => undefined): Promise<Receivers> {
    const server = createServer();
    const receivers = new Receivers(journal, server);
    server.on('request', (request, response) => {
      receivers.#receive(request, response).catch(() => response.destroy());
    });
    server.on('connection', (socket) => {
      const sender = findSender(socket.remotePort ?? 0);
      if (sender !== undefined) receivers.#senders.set(socket, sender);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receivers;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** The paths that have been given a manner. */
  get paths(): readonly string[] {
    return [...this.#manners.keys()];
  }

  set(path: string, manner: Manner): void {
    this.#manners.set(path, manner);
  }

  /** From now on, it is written down of each request to the path whether the keys verify it. */
  learn(path: string, keys: WebhookKeys): void {
    this.#keys.set(path, keys);
  }

  /** How many requests a path has not accepted, or not at once. */
  countDisturbed(path: string): number {
    return this.#disturbed.get(path) ?? 0;
  }

  acceptAll(): void {
    for (const path of this.paths) this.set(path, 'accept');
  }

  /** Send a path once more what it has accepted some requests ago. Returns whether there was such a request. */
  async repeat(path: string): Promise<boolean> {
    const old = this.#accepted.get(path)?.at(0);
    if (old === undefined) return false;
    const { headers, body } = old;
    const answer = await fetch(this.url(path), { method: 'POST', headers, body });
    return answer.ok;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedUs = this.#journal.now();
    const sender = this.#senders.get(request.socket);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const path = request.url!;
    const manner = this.#manners.get(path) ?? 'accept';
    if (manner !== 'accept') this.#disturbed.set(path, this.countDisturbed(path) + 1);
    if (manner === 'hang') await sleep(HANG_MS);
    const answered = manner === 'cut off' ? null : manner === 'refuse' ? 500 : 204;
    const text = Buffer.concat(parts).toString();
    const body = JSON.parse(text) as WireEvent & { events?: WireEvent[] };
    const events = body.events ?? [body];
    const keys = this.#keys.get(path);
    // Written down before the answer: what was answered was received.
    this.#journal.note('webhook.received', {
      webhook: path,
      id: String(request.headers['webhook-id']),
      isList: body.events !== undefined,
      ...(keys && describeRequest(request.headers, text, keys)),
      events: events.map(noteOf),
      ...{ answered, arrivedUs },
      ...(sender !== undefined && { sender }),
      ...(request.socket.destroyed && { mayBeLost: true }),
      rooms: events.map(({ data }) => data?.room?.uid ?? data?.room_uid ?? null),
    });
    if (answered === 204) this.#remember(path, { headers: namesOf(request), body: text });
    if (answered === null) response.destroy();
    else response.writeHead(answered).end();
  }

  #remember(path: string, accepted: Accepted): void {
    const all = [...(this.#accepted.get(path) ?? []), accepted];
    this.#accepted.set(path, all.slice(-KEPT));
  }
}

/** The headers that make a request a webhook's. */
function namesOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('webhook-') || name === 'content-type'),
  ) as Record<string, string>;
}

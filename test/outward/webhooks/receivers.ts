/** Receivers of webhooks on real sockets, which may do anything. */
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { parseRange } from '../../../src/base/lib/address.ts';
import { newTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { SEND_TIMES, type SendTimes } from '../../../src/outward/webhooks/send-limits.ts';
import {
  type SenderOptions,
  type SendOutcome,
  WebhookSender,
} from '../../../src/outward/webhooks/send-request.ts';
import type { Certificate } from '../../support/tls/make-certificate.ts';

export const LOOPBACK = [parseRange('127.0.0.0/8')!];

/** Short enough to wait for. Whatever else a test expects has to win against these. */
export const IMPATIENT: SendTimes = { ...SEND_TIMES, connect: 200, answer: 400, body: 200 };

export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** Every connection there was. */
  readonly sockets: readonly Socket[];
  /** Every request there was: line, headers and body. */
  readonly requests: readonly string[];
}

type React = (socket: Socket, request: string, nth: number) => void;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Calls `react` with each whole request on any connection. */
export function startReceiver(react: React, address = '127.0.0.1', port = 0): Promise<Receiver> {
  const requests: string[] = [];
  const server = createServer((socket) => readRequests(socket, requests, react));
  return listen(server, requests, address, port, 'http');
}

/** Calls `greet` with each connection, and hears nothing. */
export function startGreeter(greet: (socket: Socket) => void): Promise<Receiver> {
  return listen(createServer(greet), [], '127.0.0.1', 0, 'http');
}

/** A TLS server that answers `200 ok`. `clients`: whose certificates a client needs. */
export function startTlsReceiver(certificate: Certificate, clients?: string): Promise<Receiver> {
  const requests: string[] = [];
  const asking = clients === undefined ? {} : { ca: clients, requestCert: true, rejectUnauthorized: true };
  const server = createHttpsServer({ ...certificate, ...asking }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end('ok');
  });
  return listen(server, requests, '127.0.0.1', 0, 'https');
}

async function listen(
  server: Server,
  requests: string[],
  address: string,
  port: number,
  scheme: string,
): Promise<Receiver> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  closers.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const { port: own } = server.address() as AddressInfo;
  return { port: own, url: `${scheme}://${address}:${own}/hook`, sockets, requests };
}

function readRequests(socket: Socket, requests: string[], react: React): void {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n') + 4;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (end < 4 || text.length < end + length) return;
    const request = text.slice(0, end + length);
    text = text.slice(end + length);
    requests.push(request);
    react(socket, request, requests.length);
  });
}

/** Writes `200` with a body. */
export function answerOk(socket: Socket, body = 'ok'): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Writes `chunk` until the connection closes. */
export function writeForEver(socket: Socket, chunk: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** A sender that may connect to 127.0.0.0/8 in plain http, and is closed after the test. */
export function startSender(options: Partial<SenderOptions> = {}): WebhookSender {
  const sender = new WebhookSender({ allowed: LOOPBACK, ...options });
  closers.unshift(() => sender.close());
  return sender;
}

export const BODY = '{"type":"webhook_test"}';

export const TENANT = newTenantId();

/** Posts BODY. */
export function post(
  sender: WebhookSender,
  url: string,
  { signal, tenant = TENANT }: { signal?: AbortSignal; tenant?: TenantId } = {},
): Promise<SendOutcome> {
  return sender.send({ tenant, url, headers: { 'webhook-id': 'evt_1' }, body: BODY }, signal);
}

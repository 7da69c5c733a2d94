/** The web server of the demo: its pages, their questions, and the way to the service and the relay. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { stripTypeScriptTypes } from 'node:module';
import { text } from 'node:stream/consumers';
import { BoxofficeError } from '../sdk/typescript/src/backend/index.ts';
import { ICON } from '../src/doors/consoles/assets/style.css.ts';
import { renderGuestPage, renderHostPage, renderLostPage } from './page.ts';
import { passOn } from './pass-on.ts';
import { PAGE_POLICY, STYLE } from './style.css.ts';

/** Where modules of pages come from. Their types are stripped, and nothing is bundled. */
const MODULES: Readonly<Record<string, URL>> = {
  demo: new URL('browser/', import.meta.url),
  'sdk/typescript/src': new URL('../sdk/typescript/src/', import.meta.url),
};
/** Without TLS, pages of the demo come from these alone. A name of another site may lead here too (DNS rebinding). */
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];
const BODY_MAX = 4096;
const COOKIE = 'demo_host';

/** A question of a page: who asks, and what. */
export interface Question {
  /** What the cookie of the host holds. */
  readonly secret: string | undefined;
  /** From the address of a page that joins by a link. */
  readonly link: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Something that a page may not or cannot do now. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Site {
  /** Answers to questions of pages, by `POST /demo/<name>`. */
  readonly answers: Readonly<Record<string, (question: Question) => Promise<object>>>;
  /** Where a request of a device goes on to; `undefined`: this is none. */
  destination(path: string): string | undefined;
  /** Whether others may join by this link now. */
  isLink(link: string): boolean;
  /** What the browser that has just signed up is to keep. */
  secret(): string | undefined;
}

/** A certificate and its key. */
export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export function openServer(site: Site, tls: Tls | undefined): Server {
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    serve(site, request, response, tls !== undefined).catch((error: unknown) => fail(response, error));
  };
  if (!tls) return createServer(handle);
  // Browsers open more than six streams of events over HTTP/2 alone.
  return createSecureServer({ ...tls, allowHTTP1: true }, handle as never) as unknown as Server;
}

async function serve(site: Site, request: IncomingMessage, response: ServerResponse, isSecure: boolean) {
  const { pathname } = URL.parse(request.url ?? '/', 'http://demo') ?? {};
  if (pathname === undefined) throw new Refused(400, 'the address is not one');
  refuseOtherSites(request, isSecure);
  const to = site.destination(pathname);
  if (request.method === 'POST' && pathname.startsWith('/demo/')) {
    await answer(site, pathname.slice('/demo/'.length), request, response, isSecure);
  } else if (to !== undefined) passOn(request, response, to);
  else if (request.method !== 'GET') throw new Refused(405, 'the demo has no such address');
  else await sendFile(site, pathname, response);
}

function refuseOtherSites({ headers }: IncomingMessage, isSecure: boolean): void {
  const { host = String(headers[':authority']), origin } = headers;
  const isOwn = isSecure || LOOPBACK.includes(host.replace(/:\d+$/, ''));
  const isAsked = origin === undefined || origin === `${isSecure ? 'https' : 'http'}://${host}`;
  if (!isOwn || !isAsked) throw new Refused(403, 'the request is from another site');
}

async function answer(
  site: Site,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  isSecure: boolean,
) {
  const ask = Object.hasOwn(site.answers, name) ? site.answers[name] : undefined;
  // Forms of other sites cannot send it.
  const isJson = request.headers['content-type'] === 'application/json';
  if (!ask || !isJson) throw new Refused(404, 'the demo has no such address');
  if (Number(request.headers['content-length'] ?? BODY_MAX + 1) > BODY_MAX)
    throw new Refused(413, 'too long');
  const [, secret] = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '') ?? [];
  const { link, ...body } = Object(JSON.parse(await text(request))) as Record<string, unknown>;
  const given = await ask({ secret, link: typeof link === 'string' ? link : undefined, body });
  if (name === 'sign-up') {
    const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
    response.setHeader('set-cookie', `${COOKIE}=${site.secret()}; ${attributes}`);
  }
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(given));
}

async function sendFile(site: Site, path: string, response: ServerResponse): Promise<void> {
  const [, folder = '', module = ''] = /^\/(demo|sdk\/typescript\/src)\/([\w/-]+\.ts)$/.exec(path) ?? [];
  const [, link] = /^\/with\/([\w-]+)$/.exec(path) ?? [];
  if (MODULES[folder]) {
    const source = await readFile(new URL(module, MODULES[folder]), 'utf8');
    send(response, 200, 'text/javascript', stripTypeScriptTypes(source));
  } else if (path === '/') send(response, 200, 'text/html', renderHostPage());
  else if (link !== undefined && site.isLink(link)) send(response, 200, 'text/html', renderGuestPage(link));
  else if (path === '/demo/style.css') send(response, 200, 'text/css', STYLE);
  else if (path === '/demo/icon.svg') send(response, 200, 'image/svg+xml', ICON);
  else send(response, 404, 'text/html', renderLostPage());
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': PAGE_POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  response.end(body);
}

function fail(response: ServerResponse, error: unknown): void {
  const status = statusOf(error);
  if (status === 500) console.error(error);
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ message: status === 500 ? 'the demo failed' : (error as Error).message }));
}

function statusOf(error: unknown): number {
  if (error instanceof Refused) return error.status;
  if (error instanceof BoxofficeError) return 409;
  if (error instanceof SyntaxError) return 400;
  return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 404 : 500;
}

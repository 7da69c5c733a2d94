/** How both consoles answer a request for a page: find its route and session, refuse foreign forms, render. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Form, parseForm } from '../http/form.ts';
import { asFailure, asLate } from '../http/refusals.ts';
import { STATUS } from '../http/status.ts';
import type { Answer, Page } from './answer.ts';
import { readCookie, renderCookie, renderLoginCookie } from './cookie.ts';
import { readDoneCookie, renderDoneCookie } from './done-cookie.ts';
import { failurePage, notFoundPage, refusedFormPage } from './notices.ts';
import { isOwnForm, ownAddressOf } from './origin.ts';
import { findRoute, type PageCall, type Route, refuseUnknownFields, withoutSlash } from './route.ts';
import { sendAnswer, sendHtml } from './send-answer.ts';

/** One of the consoles. `Who`: what it knows of the browser. */
export interface Site<Who, R extends Route> {
  /** Where browsers open it, without a trailing slash; and the setting that says so. */
  readonly url: string;
  readonly setting: string;
  /** The session's cookie; absent: that of tenants. */
  readonly cookie?: { readonly name: string; readonly seconds: number };
  /** The name of the cookie of a log-in that goes on at the issuer. */
  readonly loginCookie: string;
  readonly routes: readonly R[];
  render(shown: Page, context: Who & { readonly path: string }): string;
  /** `secret`: that of the session, if the browser has one. `isUse`: the person asks, and not the page by itself. */
  identify(secret: string | undefined, isUse: boolean): Promise<Who>;
  handle(route: R, call: PageCall & Who): Promise<Answer>;
}

const NO_FIELDS: Form = new Map();

type Render = (shown: Page) => string;

/** The layout for the reader of each request, for the page of an error. */
const LAYOUTS = new WeakMap<FastifyRequest, Render>();

export async function answerPage<Who, R extends Route>(
  site: Site<Who, R>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const [path = '', query = ''] = request.url.split(/\?(.*)/s);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const moved = method === 'GET' && newAddressOf(site.url, request, path, query);
  if (moved) return reply.code(303).header('location', moved).send('');

  const { name, seconds } = site.cookie ?? {};
  const secret = readCookie(site.url, request.headers.cookie, name);
  const who = await site.identify(secret, !isByItself(request));
  const render: Render = (shown) => site.render(shown, { path, ...who });
  LAYOUTS.set(request, render);
  const form = request.body instanceof Map ? (request.body as Form) : NO_FIELDS;
  const found = findRoute(site.routes, method, path);
  const call = { request, path, form, query: parseForm(query), params: found?.params ?? {}, ...who };
  return sendAnswer(reply, found ? await answerRoute(site, found.route, call) : notFoundPage(), {
    render,
    renderCookie: (secret) => renderCookie(site.url, secret, name, seconds),
    renderLoginCookie: (secret) => renderLoginCookie(site.url, secret, site.loginCookie),
    ...(secret !== undefined && {
      renderDoneCookie: (text) => renderDoneCookie({ publicUrl: site.url, secret, console: name }, text),
      done: readDoneCookie({ publicUrl: site.url, secret, console: name }, request.headers.cookie),
    }),
  });
}

/** The script of an open page asks, or its stream of events connects again: perhaps without a person. */
function isByItself({ headers }: FastifyRequest): boolean {
  return headers['by-itself'] !== undefined || headers.accept === 'text/event-stream';
}

/** Where the page is, if the request used another name of the machine, or a slash too many. */
function newAddressOf(url: string, request: FastifyRequest, path: string, query: string): string | undefined {
  const bare = withoutSlash(path);
  const here = bare && (query === '' ? bare : `${bare}?${query}`);
  return ownAddressOf(request.headers.host, request.url, url) ?? here;
}

async function answerRoute<Who, R extends Route>(
  site: Site<Who, R>,
  route: R,
  call: PageCall & Who,
): Promise<Answer> {
  if (route.method === 'POST') {
    const { url, setting } = site;
    if (!route.isForPrograms && !isOwnForm(call.request.headers, url))
      return refusedFormPage(`${url}/console`, setting);
    refuseUnknownFields(route, call.form);
  }
  return site.handle(route, call);
}

/** A failure as a page; of a program's request, as the REST interface says it. `render`: without a reader. */
export function answerPageError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { render, isOfProgram = false }: { readonly render: Render; readonly isOfProgram?: boolean },
): FastifyReply {
  const failure = asLate(error, request) ?? asFailure(error, request, '64 KiB');
  if (!failure) request.log.error({ err: error }, 'a page failed');
  const status = failure ? STATUS[failure.kind] : 500;
  if (failure?.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
  reply.code(status);
  if (isOfProgram) {
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ error: failure?.message ?? 'internal error' }));
  }
  return sendHtml(reply, (LAYOUTS.get(request) ?? render)(failurePage(status, failure)));
}

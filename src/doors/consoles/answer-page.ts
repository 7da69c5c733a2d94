/** How both consoles answer a request for a page: find its route and session, refuse foreign forms, render. */
import type { Html } from '@boxoffice/pages/html';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Failure, notFound } from '../../base/failure.ts';
import { type Form, parseForm } from '../http/form.ts';
import { asFailure, asPassing } from '../http/refusals.ts';
import { STATUS } from '../http/status.ts';
import type { Answer, Page } from './answer.ts';
import { readCookie, renderCookie, renderLoginCookie } from './cookie.ts';
import { readDoneCookie, renderDoneCookie } from './done-cookie.ts';
import { failurePage, refusedFormPage, type WayOn } from './notices.ts';
import { isOwnForm, ownAddressOf } from './origin.ts';
import { findRoute, type PageCall, type Route, withoutSlash } from './route.ts';
import { sendAnswer, sendHtml } from './send-answer.ts';
import type { Section } from './shell.ts';

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
  /** `context`: none if it is not known who asks. */
  render(shown: Page, context: (Who & { readonly path: string }) | undefined): string;
  /** `secret`: that of the session, if the browser has one. `isUse`: the person asks, and not the page by itself. */
  identify(secret: string | undefined, isUse: boolean): Promise<Who>;
  /** Refuses fields that the form does not have, once it is known that the sender may send it. */
  handle(route: R, call: PageCall & Who): Promise<Answer>;
  /** The section that the path belongs to, if the reader may see it. */
  sectionOf(path: string, who: Who | undefined): Section | undefined;
  /** Who can help the reader with an error. `failure`: none is one of ours. */
  findHelp?(
    request: FastifyRequest,
    failure: Failure | undefined,
    who: Who | undefined,
  ): Promise<Html | undefined>;
}

const NO_FIELDS: Form = new Map();

/** What the page of an error needs of a site. */
type Asking<Who> = Pick<
  Site<Who, Route>,
  'url' | 'cookie' | 'identify' | 'render' | 'sectionOf' | 'findHelp'
>;

/** Who asks, for the page of an error; `undefined`: that was asked for, and is not known. */
const ASKED = new WeakMap<FastifyRequest, unknown>();

async function identify<Who>(site: Asking<Who>, request: FastifyRequest): Promise<Who> {
  // An error must not ask once more for what failed, or takes too long.
  ASKED.set(request, undefined);
  const secret = readCookie(site.url, request.headers.cookie, site.cookie?.name);
  const who = await site.identify(secret, !isByItself(request));
  ASKED.set(request, who);
  return who;
}

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
  const who = await identify(site, request);
  const form = request.body instanceof Map ? (request.body as Form) : NO_FIELDS;
  const found = findRoute(site.routes, method, path);
  const call = { request, path, form, query: parseForm(query), params: found?.params ?? {}, ...who };
  if (!found) throw notFound('page');
  return sendAnswer(reply, await answerRoute(site, found.route, call), {
    render: (shown) => site.render(shown, { path, ...who }),
    renderCookie: (secret) => renderCookie(site.url, secret, name, seconds),
    renderLoginCookie: (secret) => renderLoginCookie(site.url, secret, site.loginCookie),
    ...(secret !== undefined && {
      renderDoneCookie: (told) => renderDoneCookie({ publicUrl: site.url, secret, console: name }, told),
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
      return refusedFormPage(`${url}${site.sectionOf(call.path, call)?.path ?? '/console'}`, setting);
  }
  return site.handle(route, call);
}

/** A failure as a page; of a program's request, as the REST interface says it. */
export async function answerPageError<Who>(
  site: Asking<Who>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { isOfProgram = false }: { readonly isOfProgram?: boolean } = {},
): Promise<FastifyReply> {
  const failure = asPassing(error, request) ?? asFailure(error, request, '64 KiB');
  if (!failure) request.log.error({ err: error }, 'a page failed');
  const status = failure ? STATUS[failure.kind] : 500;
  if (failure?.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
  reply.code(status);
  if (isOfProgram) {
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ error: failure?.message ?? 'internal error' }));
  }
  const who = await whoAsked(site, request);
  const [path = ''] = request.url.split('?');
  const help = await site.findHelp?.(request, failure, who).catch(() => undefined);
  const wayOn: WayOn = { section: site.sectionOf(path, who), help };
  return sendHtml(reply, site.render(failurePage(status, failure, wayOn), who && { path, ...who }));
}

async function whoAsked<Who>(site: Asking<Who>, request: FastifyRequest): Promise<Who | undefined> {
  if (ASKED.has(request)) return ASKED.get(request) as Who | undefined;
  return identify(site, request).catch(() => undefined);
}

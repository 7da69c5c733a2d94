/** Answers a request for a page: finds its route and session, refuses what is not allowed, renders. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mayDo } from '../../access/members/member.ts';
import { authenticateSession } from '../../access/sessions/authenticate-session.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import type { Deps } from '../deps.ts';
import { type Form, parseForm } from '../http/form.ts';
import { asFailure, isTimeout } from '../http/refusals.ts';
import { STATUS } from '../http/status.ts';
import { readCookie, renderCookie } from './cookie.ts';
import { CONSOLE_POLICY, type Page, renderPage } from './layout.ts';
import { isOwnForm, ownAddressOf } from './origin.ts';
import { failurePage, notFoundPage, refusedFormPage } from './pages/notices.ts';
import { type Answer, type Call, type ConsoleRoute, matchPath, redirect } from './route.ts';
import { ROUTES } from './routes.ts';

const NO_FIELDS: Form = new Map();

export async function answerCall(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const [path = '', query = ''] = request.url.split(/\?(.*)/s);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const { publicUrl } = deps.config;
  const ownAddress = method === 'GET' && ownAddressOf(request.headers.host, request.url, publicUrl);
  if (ownAddress) return send(deps, reply, undefined, redirect(ownAddress));

  const secret = readCookie(publicUrl, request.headers.cookie);
  const session = secret === undefined ? undefined : await authenticateSession(deps, secret);
  const form = request.body instanceof Map ? (request.body as Form) : NO_FIELDS;
  const common = { deps, request, address: request.ip, path, form, session, query: parseForm(query) };
  const found = findRoute(method, path);
  if (!found) return send(deps, reply, { ...common, params: {} }, notFoundPage());
  const call = { ...common, params: found.params };
  return send(deps, reply, call, await answerRoute(found.route, call));
}

function findRoute(
  method: string,
  path: string,
): { readonly route: ConsoleRoute; readonly params: Record<string, string> } | undefined {
  const fitting = ROUTES.flatMap((route) => {
    const params = matchPath(route.path, path);
    return params ? [{ route, params }] : [];
  });
  const found = fitting.find(({ route }) => route.method === method);
  if (!found && fitting.length > 0) throw new Failure('method_not_allowed');
  return found;
}

async function answerRoute(route: ConsoleRoute, call: Call): Promise<Answer> {
  const { request, deps, session } = call;
  if (route.method === 'POST') {
    const isForPrograms = route.needs === 'nobody' && route.isForPrograms;
    if (!isForPrograms && !isOwnForm(request.headers, deps.config.publicUrl)) return refusedFormPage(call);
    refuseUnknownFields(route, call.form);
  }
  if (route.needs === 'nobody') return route.handle(call);
  // Where the person wanted to go. The result of a form cannot be shown again.
  const here = route.method === 'GET' ? request.url : '/console';
  if (!session) return redirect(`/console/login?next=${encodeURIComponent(here)}`);
  if (route.needs !== 'session' && !mayDo(session.role, route.needs)) throw new Failure('permission_denied');
  if (route.isDangerous && !session.isFresh) {
    const next = route.method === 'GET' ? here : sectionOf(call.path);
    return redirect(`/console/confirm?next=${encodeURIComponent(next)}`);
  }
  const queue = route.callsProvider ? deps.providerCalls : deps.calls;
  return queue.run(session, () => route.handle({ ...call, session }));
}

function refuseUnknownFields({ fields = [] }: ConsoleRoute, form: Form): void {
  for (const name of form.keys()) {
    if (!fields.includes(name)) throw invalidRequest(`${name.slice(0, 100)} is not a known field`);
  }
}

/** `/console/keys` of `/console/keys/.../rotate`. */
function sectionOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}

function send(deps: Deps, reply: FastifyReply, call: Call | undefined, answer: Answer): FastifyReply {
  if ('cookie' in answer && answer.cookie) {
    reply.header('set-cookie', renderCookie(deps.config.publicUrl, answer.cookie.secret));
  }
  switch (answer.kind) {
    case 'page':
      return sendPage(reply.code(answer.status ?? 200), call, answer.page);
    case 'redirect':
      return reply.code(303).header('location', answer.to).send('');
    case 'json':
      return reply
        .code(answer.status)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(answer.body));
    case 'document':
      return sendHtml(reply, answer.html, answer.policy);
    case 'file':
      if (answer.saveAs) reply.header('content-disposition', `attachment; filename="${answer.saveAs}"`);
      return reply.header('x-content-type-options', 'nosniff').type(answer.type).send(answer.body);
  }
}

function sendPage(reply: FastifyReply, call: Call | undefined, page: Page): FastifyReply {
  return sendHtml(reply, renderPage(page, call), CONSOLE_POLICY);
}

function sendHtml(reply: FastifyReply, html: string, policy: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('referrer-policy', 'same-origin')
    .header('x-content-type-options', 'nosniff')
    .send(html);
}

/** A failure as a page; of a program's request, as the REST interface says it. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = isTimeout(error) ? new Failure('overloaded') : asFailure(error, request, '64 KiB');
  if (!failure) request.log.error({ err: error }, 'a page failed');
  const status = failure ? STATUS[failure.kind] : 500;
  if (failure?.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
  reply.code(status);
  if (request.url.startsWith('/console/session')) {
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ error: failure?.message ?? 'internal error' }));
  }
  return sendPage(reply, undefined, failurePage(status, failure));
}

/** Answers a request for a page: finds its route and session, refuses what is not allowed, renders. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mayDo } from '../../access/members/member.ts';
import { authenticateSession, findClosedTenant } from '../../access/sessions/authenticate-session.ts';
import type { Session } from '../../access/sessions/session.ts';
import { Failure } from '../../base/failure.ts';
import { parseTenantId, renderTenantId } from '../../base/tenants/tenant.ts';
import type { Deps } from '../deps.ts';
import { type Form, parseForm } from '../http/form.ts';
import { asFailure, isTimeout } from '../http/refusals.ts';
import { STATUS } from '../http/status.ts';
import { type Answer, redirect } from '../pages/answer.ts';
import { readCookie, renderCookie, renderLoginCookie } from '../pages/cookie.ts';
import { failurePage, notFoundPage, refusedFormPage } from '../pages/notices.ts';
import { isOwnForm, ownAddressOf } from '../pages/origin.ts';
import { findRoute, refuseUnknownFields, withoutSlash } from '../pages/route.ts';
import { sendAnswer, sendHtml } from '../pages/send-answer.ts';
import { queueOfRoute } from '../queue-of-route.ts';
import { type Context, renderPage } from './layout.ts';
import { closedPage, notePassedOver } from './pages/closed.ts';
import { LOGIN_COOKIE } from './pages/oidc.ts';
import type { Call, ConsoleRoute, GuardedRoute } from './route.ts';
import { ROUTES } from './routes.ts';

const NO_FIELDS: Form = new Map();

/** Who asked, for the page of an error. */
const CONTEXTS = new WeakMap<FastifyRequest, Context>();

export async function answerCall(
  { deps, closing }: { readonly deps: Deps; readonly closing: AbortSignal },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const [path = '', query = ''] = request.url.split(/\?(.*)/s);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const { publicUrl } = deps.config;
  const ownAddress = method === 'GET' && ownAddressOf(request.headers.host, request.url, publicUrl);
  if (ownAddress) return send(deps, reply, undefined, redirect(ownAddress));
  const bare = method === 'GET' && withoutSlash(path);
  if (bare) return send(deps, reply, undefined, redirect(query === '' ? bare : `${bare}?${query}`));

  const secret = readCookie(publicUrl, request.headers.cookie);
  const session = secret === undefined ? undefined : await authenticateSession(deps, secret);
  const closed = secret === undefined || session ? undefined : await findClosedTenant(deps, secret);
  CONTEXTS.set(request, { path, session, closed });
  const form = request.body instanceof Map ? (request.body as Form) : NO_FIELDS;
  const common = {
    deps,
    closing,
    request,
    address: request.ip,
    path,
    form,
    session,
    closed,
    query: parseForm(query),
  };
  const found = findRoute(ROUTES, method, path);
  if (!found) return send(deps, reply, { ...common, params: {} }, notFoundPage());
  const call = { ...common, params: found.params };
  return send(deps, reply, call, await answerRoute(found.route, call));
}

async function answerRoute(route: ConsoleRoute, call: Call): Promise<Answer> {
  const { request, deps, session } = call;
  if (route.method === 'POST') {
    const isForPrograms = route.needs === 'nobody' && route.isForPrograms;
    const { publicUrl } = deps.config;
    if (!isForPrograms && !isOwnForm(request.headers, publicUrl))
      return refusedFormPage(`${publicUrl}/console`, 'PUBLIC_URL');
    refuseUnknownFields(route, call.form);
  }
  if (route.needs === 'nobody') return route.handle(call);
  // Where the person wanted to go. The result of a form cannot be shown again.
  const here = route.method === 'GET' ? request.url : '/console';
  if (!session && call.closed) return answerClosed(route, call, call.closed);
  if (!session) return redirect(`/console/login?next=${encodeURIComponent(here)}`);
  // Links of mails name the tenant. The person may have another one open.
  const wanted = route.method === 'GET' ? parseTenantId(call.query.get('tenant') ?? '') : undefined;
  if (wanted !== undefined && wanted !== session.tenant) {
    const other = new URLSearchParams({ open: renderTenantId(wanted), next: here });
    return redirect(`/console/tenants?${other}`);
  }
  // Pages of the tenant open once the founder has said what may stay in it.
  if (route.needs !== 'session' && session.mustReview) return redirect('/console/review');
  if (route.needs !== 'session' && !mayDo(session.role, route.needs)) throw new Failure('permission_denied');
  if (route.isDangerous && !session.isFresh) {
    const next = route.method === 'GET' ? here : sectionOf(call.path);
    return redirect(`/console/confirm?next=${encodeURIComponent(next)}`);
  }
  return queueOfRoute(deps, route.queue).run(session, async () => {
    const inSession = { ...call, session };
    return notePassedOver(inSession, await route.handle(inSession));
  });
}

/** The tenant is suspended or archived: its people are told so, and may do what works then. */
async function answerClosed(route: GuardedRoute, call: Call, session: Session): Promise<Answer> {
  const works = route.worksIn?.some((status) => status === session.tenantStatus);
  if (!works) return call.deps.calls.run(session, () => closedPage(call, session));
  if (route.needs !== 'session' && !mayDo(session.role, route.needs)) throw new Failure('permission_denied');
  return queueOfRoute(call.deps, route.queue).run(session, () => route.handle({ ...call, session }));
}

/** `/console/keys` of `/console/keys/.../rotate`. */
function sectionOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}

function send(
  { config }: Pick<Deps, 'config'>,
  reply: FastifyReply,
  call: Call | undefined,
  answer: Answer,
): FastifyReply {
  return sendAnswer(reply, answer, {
    render: (shown) => renderPage(shown, call),
    renderCookie: (secret) => renderCookie(config.publicUrl, secret),
    renderLoginCookie: (secret) => renderLoginCookie(config.publicUrl, secret, LOGIN_COOKIE),
  });
}

/** A failure as a page; of a program's request, as the REST interface says it. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = isTimeout(error) ? new Failure('overloaded') : asFailure(error, request, '64 KiB');
  if (!failure) request.log.error({ err: error }, 'a page failed');
  const status = failure ? STATUS[failure.kind] : 500;
  if (failure?.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
  reply.code(status);
  if (/^\/console\/session(\?|$)/.test(request.url)) {
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ error: failure?.message ?? 'internal error' }));
  }
  return sendHtml(reply, renderPage(failurePage(status, failure), CONTEXTS.get(request)));
}

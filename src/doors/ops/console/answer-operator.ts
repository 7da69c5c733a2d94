/** Answers a request for a page of operators: finds its route and session, refuses what is not allowed, renders. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticateOperator } from '../../../access/operators/log-in-with-link.ts';
import { OPERATOR_HOURS } from '../../../access/operators/operator-session.ts';
import { type Form, parseForm } from '../../http/form.ts';
import { asFailure } from '../../http/refusals.ts';
import { STATUS } from '../../http/status.ts';
import { type Answer, redirect } from '../../pages/answer.ts';
import { readCookie, renderCookie, renderLoginCookie } from '../../pages/cookie.ts';
import { failurePage, notFoundPage, refusedFormPage } from '../../pages/notices.ts';
import { isOwnForm, ownAddressOf } from '../../pages/origin.ts';
import { findRoute, refuseUnknownFields, withoutSlash } from '../../pages/route.ts';
import { sendAnswer, sendHtml } from '../../pages/send-answer.ts';
import { type Context, renderOpsPage } from './layout.ts';
import type { OperatorDoor } from './operator-deps.ts';
import { LOGIN_COOKIE } from './pages/oidc.ts';
import type { OperatorCall, OpsRoute } from './route.ts';
import { OPS_ROUTES } from './routes.ts';

/** The name of the session cookie. */
export const COOKIE_NAME = 'boxoffice-operator';

const NO_FIELDS: Form = new Map();

/** Who asked, for the page of an error. */
const CONTEXTS = new WeakMap<FastifyRequest, Context>();

export async function answerOperator(
  door: OperatorDoor,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { deps } = door;
  const { opsUrl } = deps.config;
  const [path = '', query = ''] = request.url.split(/\?(.*)/s);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const ownAddress = method === 'GET' && ownAddressOf(request.headers.host, request.url, opsUrl);
  if (ownAddress) return send(opsUrl, reply, undefined, redirect(ownAddress));
  const bare = method === 'GET' && withoutSlash(path);
  if (bare) return send(opsUrl, reply, undefined, redirect(query === '' ? bare : `${bare}?${query}`));

  const secret = readCookie(opsUrl, request.headers.cookie, COOKIE_NAME);
  const session = secret === undefined ? undefined : await authenticateOperator(deps.db, secret);
  CONTEXTS.set(request, { path, session });
  const form = request.body instanceof Map ? (request.body as Form) : NO_FIELDS;
  const common = { deps, door, request, path, form, session, query: parseForm(query) };
  const found = findRoute(OPS_ROUTES, method, path);
  if (!found) return send(opsUrl, reply, { ...common, params: {} }, notFoundPage());
  const call = { ...common, params: found.params };
  return send(opsUrl, reply, call, await answerRoute(found.route, call));
}

async function answerRoute(route: OpsRoute, call: OperatorCall): Promise<Answer> {
  const { deps, request, session } = call;
  if (route.method === 'POST') {
    const { opsUrl } = deps.config;
    if (!isOwnForm(request.headers, opsUrl)) return refusedFormPage(`${opsUrl}/console`, 'OPS_URL');
    refuseUnknownFields(route, call.form);
  }
  if (route.needs === 'nobody') return route.handle(call);
  if (!session) return redirect('/console/login');
  if (route.isDangerous && !session.isFresh) return redirect('/console/confirm');
  return route.handle({ ...call, session });
}

function send(
  opsUrl: string,
  reply: FastifyReply,
  call: OperatorCall | undefined,
  answer: Answer,
): FastifyReply {
  return sendAnswer(reply.header('cache-control', 'no-store'), answer, {
    render: (shown) => renderOpsPage(shown, call),
    renderCookie: (secret) => renderCookie(opsUrl, secret, COOKIE_NAME, OPERATOR_HOURS * 3600),
    renderLoginCookie: (secret) => renderLoginCookie(opsUrl, secret, LOGIN_COOKIE),
  });
}

/** A failure as a page. */
export function answerOperatorError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = asFailure(error, request, '64 KiB');
  if (!failure) request.log.error({ err: error }, 'a page failed');
  const status = failure ? STATUS[failure.kind] : 500;
  reply.code(status).header('cache-control', 'no-store');
  return sendHtml(reply, renderOpsPage(failurePage(status, failure), CONTEXTS.get(request)));
}

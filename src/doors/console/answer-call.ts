/** Answers a request for a page: finds its session, and refuses what is not allowed. */
import { mayDo } from '../../access/rights/abilities.ts';
import { authenticateSession, findClosedTenant } from '../../access/sessions/authenticate-session.ts';
import { RequestLimit } from '../../access/sessions/request-limit.ts';
import type { Session } from '../../access/sessions/session.ts';
import { Failure } from '../../base/failure.ts';
import { Lanes } from '../../base/lib/lanes.ts';
import { parseTenantId, renderTenantId } from '../../base/tenants/tenant.ts';
import { type Answer, redirect } from '../consoles/answer.ts';
import { answerPage, answerPageError, type Site } from '../consoles/answer-page.ts';
import { readCookie } from '../consoles/cookie.ts';
import type { Pages } from '../consoles/door.ts';
import { refuseUnknownFields } from '../consoles/route.ts';
import { isTyped, sendAgainPage } from '../consoles/send-again.ts';
import type { Deps } from '../deps.ts';
import { queueOfRoute } from '../queue-of-route.ts';
import { endWithSession } from './end-with-session.ts';
import { findHelp } from './find-help.ts';
import { type Context, renderPage, sectionOf } from './layout.ts';
import { closedPage, notePassedOver } from './pages/closed.ts';
import { LOGIN_COOKIE } from './pages/member-oidc.ts';
import type { Call, ConsoleRoute, GuardedRoute } from './route.ts';
import { ROUTES } from './routes.ts';
import { answerWithTyped, keepTyped } from './typed-form.ts';

export function openPages(deps: Deps, closing: AbortSignal): Pages {
  const site = siteOf(deps, closing);
  return {
    answer: (request, reply) => answerPage(site, request, reply),
    answerError: (error, request, reply) =>
      answerPageError(site, error, request, reply, {
        isOfProgram: /^\/console\/session(\?|$)/.test(request.url),
      }),
  };
}

/** Anybody can make up cookies: looking for their sessions takes so many connections at a time. */
const LOOKUPS_MAX = 4;

function siteOf(deps: Deps, closing: AbortSignal): Site<Omit<Context, 'path'>, ConsoleRoute> {
  const lookups = new Lanes(LOOKUPS_MAX);
  const requests = new RequestLimit(deps.db);
  return {
    url: deps.config.publicUrl,
    setting: 'PUBLIC_URL',
    loginCookie: LOGIN_COOKIE,
    routes: ROUTES,
    render: renderPage,
    identify: async (secret, isUse) => {
      if (secret === undefined) return { session: undefined, closed: undefined };
      return lookups.run(async () => {
        const session = await authenticateSession(deps, secret, { isUse });
        return { session, closed: session ? undefined : await findClosedTenant(deps, secret) };
      });
    },
    handle: async (route, call) => {
      const known = call.session ?? call.closed;
      if (route.needs !== 'nothing' && known) await lookups.run(() => requests.count(known));
      return answerRoute(route, { ...call, deps, closing, address: call.request.ip });
    },
    sectionOf,
    findHelp: (request, failure, who) => findHelp(deps, request.id, failure, who?.session),
  };
}

async function answerRoute(route: ConsoleRoute, call: Call): Promise<Answer> {
  const { request, deps, session } = call;
  if (route.needs === 'nothing') {
    refuseUnknownFields(route, call.form);
    return route.handle(call);
  }
  // Where the person wanted to go. The result of a form cannot be shown again.
  const here = route.method === 'GET' ? request.url : '/console';
  if (!session && call.closed) return answerClosed(route, call, call.closed);
  if (!session) return askToLogIn(route, call, `/console/login?next=${encodeURIComponent(here)}`);
  // Links of mails name the tenant. The person may have another one open.
  const wanted = route.method === 'GET' ? parseTenantId(call.query.get('tenant') ?? '') : undefined;
  if (wanted !== undefined && wanted !== session.tenant) {
    const other = new URLSearchParams({ open: renderTenantId(wanted), next: here });
    return redirect(`/console/tenants?${other}`);
  }
  // Pages of the tenant open once the founder has said what may stay in it.
  if (route.needs !== 'session' && session.mustReview) return redirect('/console/review');
  refuseForm(route, call, session);
  if (route.isDangerous && !session.isFresh) {
    const inSession = { ...call, session };
    const next = route.method === 'GET' ? here : await keepTyped(route, inSession, pageOf(route, call.path));
    return redirect(`/console/confirm?next=${encodeURIComponent(next)}`);
  }
  return queueOfRoute(deps, route.queue).run(session, async () => {
    const inSession = { ...call, session };
    const answer = await answerWithTyped(route, inSession);
    const ability = route.needs === 'session' ? undefined : route.needs;
    return endWithSession(await notePassedOver(inSession, answer), inSession, ability);
  });
}

/** The role first: what a form may have is for those who may send it. Fails with `permission_denied`, and with `invalid_request`. */
function refuseForm(route: GuardedRoute, { form }: Call, { role }: Session): void {
  if (route.needs !== 'session' && !mayDo(role, route.needs)) throw new Failure('permission_denied');
  refuseUnknownFields(route, form);
}

/** With what was typed, if the browser had a session. A form is sent to the tenant that is open then. */
function askToLogIn({ method }: GuardedRoute, call: Call, login: string): Answer {
  const hadSession = readCookie(call.deps.config.publicUrl, call.request.headers.cookie) !== undefined;
  if (method !== 'POST' || !hadSession || !isTyped(call.form)) return redirect(login);
  const why = 'Your session has ended. The form goes to the tenant that you open when you log in.';
  return sendAgainPage(call, why, login);
}

/** The tenant is suspended or archived: its people are told so, and may do what works then. */
async function answerClosed(route: GuardedRoute, call: Call, session: Session): Promise<Answer> {
  const isHeldUp = route.needs !== 'session' && session.mustReview;
  const works = route.worksIn?.some((status) => status === session.tenantStatus);
  if (!works || isHeldUp) return call.deps.calls.run(session, () => closedPage(call, session));
  refuseForm(route, call, session);
  return queueOfRoute(call.deps, route.queue).run(session, () => route.handle({ ...call, session }));
}

/** The page of a form: at its path, or else that of the section, such as `/console/keys` of `/console/keys/.../rotate`. */
function pageOf(route: ConsoleRoute, path: string): string {
  const isPage = ROUTES.some((each) => each.method === 'GET' && each.path === route.path);
  return isPage ? path : path.split('/').slice(0, 3).join('/');
}

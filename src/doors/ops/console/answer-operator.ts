/** Answers a request for a page of operators: finds its session, and refuses what is not allowed. */
import { authenticateOperator } from '../../../access/operators/log-in-with-link.ts';
import { noteRead } from '../../../access/operators/note-read.ts';
import { OPERATOR_FRESH_MINUTES, OPERATOR_HOURS } from '../../../access/operators/operator-session.ts';
import { type Answer, redirect } from '../../consoles/answer.ts';
import { answerPage, answerPageError, type Site } from '../../consoles/answer-page.ts';
import type { Pages } from '../../consoles/door.ts';
import { refuseUnknownFields } from '../../consoles/route.ts';
import { isTyped, sendAgainPage } from '../../consoles/send-again.ts';
import { parseTenantParam } from './fields.ts';
import { type Context, renderOpsPage, sectionOf } from './layout.ts';
import type { OperatorDoor } from './operator-deps.ts';
import { LOGIN_COOKIE } from './pages/operator-oidc.ts';
import type { OperatorCall, OpsRoute } from './route.ts';
import { OPS_ROUTES } from './routes.ts';

/** The name of the session cookie. */
const COOKIE_NAME = 'boxoffice-operator';

export function openPages(open: () => Promise<OperatorDoor>): Pages {
  return {
    answer: async (request, reply) => answerPage(siteOf(await open()), request, reply),
    answerError: async (error, request, reply) => {
      const site = await open().then(siteOf, () => UNOPENED);
      return answerPageError(site, error, request, reply);
    },
  };
}

/** Where the database cannot be opened, it is not known who asks. */
const UNOPENED = {
  url: '',
  identify: () => Promise.reject(new Error('the database is not open')),
  render: renderOpsPage,
  sectionOf,
};

function siteOf(door: OperatorDoor): Site<Pick<Context, 'session'>, OpsRoute> {
  const { deps } = door;
  return {
    url: deps.config.opsUrl,
    setting: 'OPS_URL',
    cookie: { name: COOKIE_NAME, seconds: OPERATOR_HOURS * 3600 },
    loginCookie: LOGIN_COOKIE,
    routes: OPS_ROUTES,
    render: renderOpsPage,
    identify: async (secret) => ({
      session: secret === undefined ? undefined : await authenticateOperator(deps.db, secret),
    }),
    handle: (route, call) => answerRoute(route, { ...call, deps, door }),
    sectionOf,
  };
}

async function answerRoute(route: OpsRoute, call: OperatorCall): Promise<Answer> {
  const { session } = call;
  if (route.needs === 'nothing') {
    refuseUnknownFields(route, call.form);
    return route.handle(call);
  }
  if (!session) return askToLogIn(route, call, 'You are not logged in any more.', '/console/login');
  await call.door.requests.countOfOperator(session.operator);
  refuseUnknownFields(route, call.form);
  if (route.isDangerous && !session.isFresh) {
    const why = `This can be done for ${OPERATOR_FRESH_MINUTES} minutes after a log-in.`;
    return askToLogIn(route, call, why, '/console/confirm');
  }
  const answer = await route.handle({ ...call, session });
  if (route.reads !== undefined && answer.kind === 'page' && answer.status === 200)
    await noteRead(call.deps, session, parseTenantParam(call.params.tenant), route.reads);
  return answer;
}

/** With what was typed, if the request is a form. */
function askToLogIn({ method }: OpsRoute, call: OperatorCall, why: string, login: string): Answer {
  return method === 'POST' && isTyped(call.form) ? sendAgainPage(call, why, login) : redirect(login);
}

/** Operators log in with the issuer: the buttons, `POST /console/login/oidc`, `POST /console/confirm/oidc`, the way back. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Issuer } from '../../../../access/oidc/issuer.ts';
import { LoginFault } from '../../../../access/oidc/login-fault.ts';
import {
  addressOfOperator,
  beginOperatorLogin,
  finishOperatorLogin,
  issuerOfOperators,
} from '../../../../access/operators/log-in-with-issuer.ts';
import { notFound } from '../../../../base/failure.ts';
import { type Answer, redirect } from '../../../consoles/answer.ts';
import { named } from '../../../consoles/components.ts';
import { readCookie } from '../../../consoles/cookie.ts';
import { faultPage, issuerForm, toIssuer } from '../../../consoles/issuer-pages.ts';
import { fromOf } from '../../../consoles/route.ts';
import type { LoggedInCall, OperatorCall } from '../route.ts';

/** The name of the cookie of a log-in that goes on at the issuer. */
export const LOGIN_COOKIE = 'boxoffice-operator-login';

/** Nothing, if operators do not log in with an issuer. */
export function loginWithIssuer({ deps }: OperatorCall): Html | undefined {
  const issuer = issuerOfOperators(deps);
  if (!issuer) return undefined;
  return issuerForm('/console/login/oidc', undefined, html`Log in with ${named(issuer.name)}`);
}

/** Nothing too for an operator of the command line: the issuer does not know that name. */
export function confirmWithIssuer({ deps, session }: LoggedInCall): Html | undefined {
  const issuer = issuerOfOperators(deps);
  if (!issuer || addressOfOperator(session) === undefined) return undefined;
  return issuerForm('/console/confirm/oidc', undefined, html`Log in again with ${named(issuer.name)}`);
}

export async function submitIssuerLogin(call: OperatorCall): Promise<Answer> {
  return goToIssuer(call, undefined);
}

export async function submitIssuerConfirm(call: LoggedInCall): Promise<Answer> {
  const again = addressOfOperator(call.session);
  return again === undefined ? redirect('/console/confirm') : goToIssuer(call, again);
}

async function goToIssuer({ deps }: OperatorCall, again: string | undefined): Promise<Answer> {
  const issuer = issuerOfOperators(deps);
  if (!issuer) throw notFound('page');
  const { opsUrl } = deps.config;
  try {
    const begun = await beginOperatorLogin(deps, issuer, { opsUrl, ...(again !== undefined && { again }) });
    return toIssuer(issuer.name, begun.url, begun.secret);
  } catch (error) {
    return pageOf(error, issuer);
  }
}

/** The browser comes from another site, so only the cookie of the attempt tells that the log-in was begun here. */
export async function finishIssuerLogin(call: OperatorCall): Promise<Answer> {
  const { deps, request } = call;
  const issuer = issuerOfOperators(deps);
  if (!issuer) throw notFound('page');
  const { opsUrl } = deps.config;
  const secret = readCookie(opsUrl, request.headers.cookie, LOGIN_COOKIE);
  const url = new URL(`${opsUrl}${request.url}`);
  try {
    const opened = await finishOperatorLogin(deps, issuer, { url, secret, from: fromOf(call) });
    return { kind: 'redirect', to: '/console', cookie: { secret: opened }, loginCookie: { secret: null } };
  } catch (error) {
    return pageOf(error, issuer);
  }
}

function pageOf(error: unknown, issuer: Issuer): Answer {
  if (!(error instanceof LoginFault)) throw error;
  const otherWay = html`<a href="/console/login">Log in again</a>, with ${named(issuer.name)} or from a terminal.`;
  return faultPage(error, { issuer: issuer.name, role: 'an operator', otherWay });
}

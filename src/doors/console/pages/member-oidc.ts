/** Log in with the issuer: the buttons, `POST /console/login/oidc`, `POST /console/confirm/oidc`, and the way back. */
import { type Html, html } from '@boxoffice/pages/html';
import type { BegunLogin } from '../../../access/oidc/begin-login.ts';
import type { Issuer } from '../../../access/oidc/issuer.ts';
import { beginMemberLogin, finishMemberLogin } from '../../../access/oidc/log-in-member.ts';
import { LoginFault } from '../../../access/oidc/login-fault.ts';
import type { Session } from '../../../access/sessions/session.ts';
import { notFound } from '../../../base/failure.ts';
import { type Answer, redirect } from '../../consoles/answer.ts';
import { named } from '../../consoles/components.ts';
import { readCookie } from '../../consoles/cookie.ts';
import { parseNext } from '../../consoles/fields.ts';
import { faultPage, issuerForm, toIssuer } from '../../consoles/issuer-pages.ts';
import { fromOf } from '../../consoles/route.ts';
import { enter } from '../enter.ts';
import type { Call, SessionCall } from '../route.ts';

/** The name of the cookie of a log-in that goes on at the issuer. */
export const LOGIN_COOKIE = 'boxoffice-login';

/** Nothing, if no issuer is configured. */
export function loginWithIssuer({ deps }: Call, next: string): Html | undefined {
  if (!deps.issuer) return undefined;
  return html`${issuerForm('/console/login/oidc', next, html`Log in with ${named(deps.issuer.name)}`)}
<p>Or by mail:</p>`;
}

/** Nothing for a session without a person, either: anyone could log in. */
export function confirmWithIssuer({ deps, session }: SessionCall, next: string): Html | undefined {
  if (!deps.issuer || !session.member) return undefined;
  return html`${issuerForm('/console/confirm/oidc', next, html`Log in again with ${named(deps.issuer.name)}`)}
<p>Or by mail:</p>`;
}

export async function submitIssuerLogin(call: Call): Promise<Answer> {
  const { deps, form, address } = call;
  const next = parseNext(form.get('next'));
  return goToIssuer(call, (issuer) => beginMemberLogin(deps, issuer, { next, address }));
}

export async function submitIssuerConfirm(call: SessionCall): Promise<Answer> {
  const { deps, form, session, address } = call;
  if (!session.member) return redirect('/console/confirm');
  const next = parseNext(form.get('next'));
  const again = { email: session.member.email, tenant: session.tenant };
  return goToIssuer(call, (issuer) => beginMemberLogin(deps, issuer, { next, again, address }));
}

async function goToIssuer(
  { deps, session }: Call,
  begin: (issuer: Issuer) => Promise<BegunLogin>,
): Promise<Answer> {
  const { issuer } = deps;
  if (!issuer) throw notFound('page');
  try {
    const { url, secret } = await begin(issuer);
    return toIssuer(issuer.name, url, secret);
  } catch (error) {
    return pageOf(error, issuer, session);
  }
}

/** The browser comes from another site, so only the cookie of the attempt tells that the log-in was begun here. */
export async function finishIssuerLogin(call: Call): Promise<Answer> {
  const { deps, request, session } = call;
  const { issuer } = deps;
  if (!issuer) throw notFound('page');
  const { publicUrl } = deps.config;
  const secret = readCookie(publicUrl, request.headers.cookie, LOGIN_COOKIE);
  const url = new URL(`${publicUrl}${request.url}`);
  try {
    const opened = await finishMemberLogin(deps, issuer, { url, secret, from: fromOf(call) });
    const loginCookie = { secret: null };
    if ('askAt' in opened) return { kind: 'redirect', to: opened.askAt, loginCookie };
    return { ...(await enter(deps, opened.next, opened.secret)), loginCookie };
  } catch (error) {
    return pageOf(error, issuer, session);
  }
}

function pageOf(error: unknown, issuer: Issuer, session: Session | undefined): Answer {
  if (!(error instanceof LoginFault)) throw error;
  const otherWay = session
    ? html`<a href="/console">Go to the console</a>, or <a href="/console/confirm">log in again</a>.`
    : error.kind === 'stranger'
      ? html`Ask an owner to invite you, <a href="/console/signup">sign up</a>, or <a href="/console/login">log in</a> with another address.`
      : html`<a href="/console/login">Log in again</a>, with ${named(issuer.name)} or by mail.`;
  return faultPage(error, { issuer: issuer.name, role: 'a member', otherWay });
}

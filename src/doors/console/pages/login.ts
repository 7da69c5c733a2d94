/** `/console/login` and below: log in by mail, or with a link from a terminal (with the issuer: `oidc.ts`); log out; log in again. */
import { type Html, html } from '@boxoffice/pages/html';
import { findEntrance } from '../../../access/logins/find-entrance.ts';
import { LOGIN_MAIL_GAP_MAX_MINUTES } from '../../../access/logins/login-limit.ts';
import { LINK_MINUTES } from '../../../access/logins/login-link.ts';
import { makeKeyLink } from '../../../access/logins/make-key-link.ts';
import { openSession } from '../../../access/logins/open-session.ts';
import { peekLink, requestLogin } from '../../../access/logins/request-login.ts';
import { addBalances } from '../../../access/members/invited-credit.ts';
import { parseMemberEmail } from '../../../access/members/member.ts';
import { listPasskeys } from '../../../access/passkeys/list-passkeys.ts';
import { passkeysAt } from '../../../access/passkeys/passkey.ts';
import { endSession } from '../../../access/sessions/end-session.ts';
import { FRESH_MINUTES } from '../../../access/sessions/fresh-login.ts';
import { KEPT_MINUTES } from '../../../access/sessions/keep-form.ts';
import { provedAddressOf } from '../../../access/sessions/session.ts';
import { EMAIL_LENGTH_MAX, parseTenantId, renderTenantId } from '../../../base/tenants/tenant.ts';
import { type Answer, type Page, page, redirect } from '../../consoles/answer.ts';
import { type Faults, field, named } from '../../consoles/components.ts';
import { parseNext, WRONG_EMAIL } from '../../consoles/fields.ts';
import { fromOf } from '../../consoles/route.ts';
import { authorizationOf } from '../../http/http.ts';
import { enter } from '../enter.ts';
import { PASSKEY_SCRIPT, passkeyForm, passkeyLoginForm } from '../passkey-form.ts';
import type { Call, SessionCall } from '../route.ts';
import { askBeforeDeclining, nextPage, parseAnswer, renderInvitation, WARNING } from './invitations.ts';
import { confirmWithIssuer, loginWithIssuer } from './member-oidc.ts';

export async function showLogin(call: Call): Promise<Answer> {
  const { query, session } = call;
  const next = parseNext(query.get('next'));
  return session ? redirect(next) : page(loginPage(call, '', next, {}));
}

export async function submitLogin(call: Call): Promise<Answer> {
  const { deps, form, address } = call;
  const given = form.get('email') ?? '';
  const next = parseNext(form.get('next'));
  const email = parseMemberEmail(given);
  if (email === undefined) {
    return page(loginPage(call, given, next, { email: WRONG_EMAIL }), 400);
  }
  const waitSeconds = await requestLogin(deps, { email, next }, address);
  return page(sentPage(call, email, waitSeconds));
}

function loginPage(call: Call, email: string, next: string, faults: Faults): Page {
  const { publicUrl } = call.deps.config;
  const body = html`<h1>Log in</h1>
${loginWithIssuer(call, next)}
<form method="post" action="/console/login" novalidate>
<input type="hidden" name="next" value="${next}">
${field({
  name: 'email',
  label: 'E-mail address',
  value: email,
  hint: 'We send you a link that logs you in. There is no password.',
  faults,
  input: html`type="email" autocomplete="email" maxlength="${EMAIL_LENGTH_MAX}" required`,
})}
<p><button class="primary">Send a link</button></p>
</form>
${passkeyLoginForm(publicUrl, next)}
<p>Are you new here? <a href="/console/signup">Sign up</a>.</p>
<details><summary>Log in with an API key instead</summary>
<p>An API key never belongs in a browser. Ask for a link with it in a terminal, and open the link:</p>
<pre><code>curl -s -X POST -H "authorization: Bearer $KEY" ${publicUrl}/console/session</code></pre></details>`;
  return { title: 'Log in', body, layout: 'narrow', script: PASSKEY_SCRIPT };
}

/** The same whether a member has the address or not. `waitSeconds`: no mail is sent before. */
function sentPage({ deps }: Call, email: string, waitSeconds: number | undefined): Page {
  const address = html`<strong><bdi>${email}</bdi></strong>`;
  const body = html`<h1>Look into your mail</h1>
${
  waitSeconds === undefined
    ? html`<p role="status">If ${address} belongs to a member, or is invited, a link to log in is on its way. It works once, within
${LINK_MINUTES} minutes.</p>`
    : html`<p role="status">Many links were asked for ${address} today, so no further one is sent now. If the address belongs to a
member, one was sent within the last ${LOGIN_MAIL_GAP_MAX_MINUTES} minutes. Use that one, or ask again in ${minutesOf(waitSeconds)}.</p>`
}
${whereToLook(deps)}
<p>Nothing arrives? Look for it among unwanted mail, or <a href="/console/login">try again</a>.</p>`;
  return { title: 'Look into your mail', body, layout: 'narrow' };
}

function minutesOf(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}

/** For developers. With a mail server and in production, there is nothing to say. */
function whereToLook({ config: { mailsShown } }: Call['deps']): Html | undefined {
  if (mailsShown === undefined) return undefined;
  const place =
    mailsShown === 'in the log'
      ? html`Read the mail in the log of the service.`
      : html`Read the mail in <a href="${mailsShown.mailboxUrl}">the sandbox’s mailbox</a>.`;
  return html`<p class="note"><strong>No mail leaves this machine,</strong> because it has no mail server. ${place}</p>`;
}

/** A GET changes nothing: programs that check mails follow links. */
export async function showLink({ deps, params, query, path }: Call): Promise<Answer> {
  const link = await peekLink(deps, params.token ?? '');
  if (!link) return page(deadLinkPage(), 404);
  if (!('email' in link)) return page(linkPage(`the tenant ${renderTenantId(link.tenant)}`));
  const after = parseTenantId(query.get('after') ?? '');
  const { own, invitations, end } = await findEntrance(deps.db, link, link.next, after);
  if (invitations.length === 0) return own ? page(linkPage(link.email)) : page(deadLinkPage(), 404);
  const body = html`<h1>You are invited</h1>
<p>You have proved that ${named(link.email)} is your address. You become a member only if you say yes.</p>
${WARNING}
${(await addBalances(deps.db, invitations)).map((each) => renderInvitation(path, each))}
${nextPage(path, 'after', end, 'Older invitations')}
${own && html`<form method="post" action="${path}"><p><button>Not now: go to ${named(own.tenantName)}</button></p></form>`}`;
  return page({ title: 'You are invited', body, layout: 'narrow' });
}

function linkPage(whose: string): Page {
  const body = html`<h1>Log in as <bdi>${whose}</bdi></h1>
<form method="post"><p><button class="primary">Log in</button></p></form>
<p class="hint">Did another person send you this link? Then close this page: you would work in another account.</p>`;
  return { title: 'Log in', body, layout: 'narrow' };
}

export async function submitLink(call: Call): Promise<Answer> {
  const { deps, params, form, path } = call;
  const token = params.token ?? '';
  const asked = parseAnswer(form) && (await askBeforeDeclining(call, path, await addressOfLink(deps, token)));
  if (asked) return asked;
  const opened = await openSession(deps, token, fromOf(call), parseAnswer(form));
  if (opened === undefined) return page(deadLinkPage(), 404);
  if (opened === 'ask') return redirect(path);
  if (opened === 'declined') return page(declinedPage());
  return enter(deps, opened.next, opened.secret);
}

/** `undefined`: the link is no person's, or does not work. */
async function addressOfLink(deps: Call['deps'], token: string): Promise<string | undefined> {
  const link = await peekLink(deps, token);
  return link && 'email' in link ? link.email : undefined;
}

function declinedPage(): Page {
  const body = html`<h1>You declined</h1>
<p role="status">You are a member of no tenant. <a href="/console/signup">Sign up</a> for one of your own, or
<a href="/console/login">log in again</a> to answer another invitation.</p>`;
  return { title: 'You declined', body, layout: 'narrow' };
}

function deadLinkPage(): Page {
  const body = html`<h1>This link does not work any more</h1>
<p role="alert">A link works once, within ${LINK_MINUTES} minutes. <a href="/console/login">Ask for another one</a>.</p>`;
  return { title: 'This link does not work any more', body, layout: 'narrow' };
}

/** `POST /console/session`, for a terminal: an API key for a link that logs in once. */
export async function exchangeKey({ deps, request, address }: Call): Promise<Answer> {
  const url = await makeKeyLink(deps, authorizationOf(request), address);
  return { kind: 'json', status: 201, body: { url } };
}

export async function submitLogout({ deps, session, closed = session, address }: Call): Promise<Answer> {
  if (closed) await endSession(deps, closed, address);
  return redirect('/', { secret: null });
}

/** What changes keys, members or money needs a log-in of the last minutes. */
export async function showConfirm(call: SessionCall): Promise<Answer> {
  const { deps, query, session } = call;
  const next = parseNext(query.get('next'));
  if (session.isFresh) return redirect(next);
  const email = passkeysAt(deps.config.publicUrl).party && provedAddressOf(session);
  const hasPasskeys = email !== undefined && (await listPasskeys(deps, email)).length > 0;
  const title = 'Log in again to go on';
  const body = html`<h1>${title}</h1>
<p>Keys, members, budgets and other settings can be changed for ${FRESH_MINUTES} minutes after a log-in, so that a browser that was left
open changes none.</p>
${
  new URLSearchParams(next.split('?')[1]).has('kept') &&
  html`<p>What you typed is kept for ${KEPT_MINUTES} minutes. After the log-in it is in the form again, and not saved yet.</p>`
}
${confirmWithIssuer(call, next)}
${
  session.member
    ? html`<form method="post" action="/console/confirm"><input type="hidden" name="next" value="${next}">
<p><button class="primary"><span>Send a link to <bdi>${session.member.email}</bdi></span></button></p></form>`
    : html`<p>Ask for another link where you got the last one: in your terminal. When you have opened it in this browser,
<a href="/console/confirm?next=${encodeURIComponent(next)}">go on here</a>.</p>`
}
${
  hasPasskeys &&
  passkeyForm('get', {
    action: '/console/passkeys/confirm',
    fields: html`<input type="hidden" name="next" value="${next}">`,
    button: html`<button>Use a passkey</button>`,
  })
}`;
  return page({ title, body, layout: 'narrow', script: PASSKEY_SCRIPT });
}

export async function submitConfirm(call: SessionCall): Promise<Answer> {
  const { deps, form, session, address } = call;
  if (!session.member) return redirect('/console/confirm');
  const { email } = session.member;
  const { tenant } = session;
  const next = parseNext(form.get('next'));
  const waitSeconds = await requestLogin(deps, { email, tenant, next }, address);
  return page(sentPage(call, email, waitSeconds));
}

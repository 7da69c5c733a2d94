/** `/console/login` and below: log in by mail, or with a link from a terminal; log out; log in again. */
import { html } from '@boxoffice/pages/html';
import { authenticate } from '../../../access/keys/authenticate.ts';
import { parseMemberEmail } from '../../../access/members/member.ts';
import { endSession } from '../../../access/sessions/end-session.ts';
import { openSession } from '../../../access/sessions/open-session.ts';
import { CONSOLE_PATH, makeLink, peekLink, requestLogin } from '../../../access/sessions/request-login.ts';
import { FRESH_MINUTES, LINK_MINUTES } from '../../../access/sessions/session.ts';
import { Failure } from '../../../base/failure.ts';
import { EMAIL_LENGTH_MAX, renderTenantId } from '../../../base/tenants/tenant.ts';
import { authorizationOf } from '../../http/http.ts';
import { type Faults, field } from '../components.ts';
import { parseNext } from '../fields.ts';
import type { Page } from '../layout.ts';
import { type Answer, type Call, page, redirect, type SessionCall } from '../route.ts';

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
    return page(
      loginPage(call, given, next, { email: 'Give an e-mail address, such as you@example.com.' }),
      400,
    );
  }
  await requestLogin(deps, { email, next }, address);
  return page(sentPage(email));
}

function loginPage({ deps }: Call, email: string, next: string, faults: Faults): Page {
  const { publicUrl } = deps.config;
  const body = html`<h1>Log in</h1>
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
<p>Are you new here? <a href="/console/signup">Sign up</a>.</p>
<details><summary>Log in with an API key instead</summary>
<p>An API key never belongs into a browser. Ask for a link with it in a terminal, and open the link:</p>
<pre><code>curl -s -X POST -H "authorization: Bearer $KEY" ${publicUrl}/console/session</code></pre></details>`;
  return { title: 'Log in', body, layout: 'narrow' };
}

/** The same whether somebody has the address or not. */
function sentPage(email: string): Page {
  const body = html`<h1>Look into your mail</h1>
<p role="status">If <strong><bdi>${email}</bdi></strong> belongs to a member, a link to log in is on its way. It works once, within
${LINK_MINUTES} minutes.</p>
<p>Nothing arrives? Look for it among unwanted mail, or <a href="/console/login">try again</a>.</p>`;
  return { title: 'Look into your mail', body, layout: 'narrow' };
}

/** A GET changes nothing: programs that check mails follow links. */
export async function showLink({ deps, params }: Call): Promise<Answer> {
  const link = await peekLink(deps, params.token ?? '');
  if (!link) return page(deadLinkPage(), 404);
  const whose = link.proof === 'mail' ? link.email : `the tenant ${renderTenantId(link.tenant)}`;
  const body = html`<h1>Log in as <bdi>${whose}</bdi></h1>
<form method="post"><p><button class="primary">Log in</button></p></form>
<p class="hint">Did somebody else send you this link? Then close this page: you would work in another account.</p>`;
  return page({ title: 'Log in', body, layout: 'narrow' });
}

export async function submitLink({ deps, params, address, session }: Call): Promise<Answer> {
  const opened = await openSession(deps, params.token ?? '', { address, before: session?.hash });
  return opened ? redirect(parseNext(opened.next), { secret: opened.secret }) : page(deadLinkPage(), 404);
}

function deadLinkPage(): Page {
  const body = html`<h1>This link does not work any more</h1>
<p role="alert">A link works once, within ${LINK_MINUTES} minutes. <a href="/console/login">Ask for another one</a>.</p>`;
  return { title: 'This link does not work any more', body, layout: 'narrow' };
}

/** `POST /console/session`, for a terminal: an API key for a link that logs in once. */
export async function exchangeKey({ deps, request, address }: Call): Promise<Answer> {
  const { tenant, keyId, tenantStatus } = await authenticate(
    deps,
    authorizationOf(request),
    'backend',
    address,
  );
  if (tenantStatus !== 'pending' && tenantStatus !== 'active') throw new Failure('tenant_not_active');
  const link = { proof: 'key', tenant, keyId, next: CONSOLE_PATH } as const;
  return { kind: 'json', status: 201, body: { url: await makeLink(deps.db, deps.config.publicUrl, link) } };
}

export async function submitLogout({ deps, session }: Call): Promise<Answer> {
  if (session) await endSession(deps, session);
  return redirect('/', { secret: null });
}

/** What changes keys or members needs a log-in of the last minutes. */
export async function showConfirm({ query, session }: SessionCall): Promise<Answer> {
  const next = parseNext(query.get('next'));
  if (session.isFresh) return redirect(next);
  const title = 'Log in again to go on';
  const body = html`<h1>${title}</h1>
<p>Keys and members can be changed for ${FRESH_MINUTES} minutes after a log-in, so that a browser that was left open changes none.</p>
${
  session.member
    ? html`<form method="post" action="/console/confirm"><input type="hidden" name="next" value="${next}">
<p><button class="primary">Send a link to <bdi>${session.member.email}</bdi></button></p></form>`
    : html`<p>Ask for another link where you got the last one: in your terminal.</p>`
}`;
  return page({ title, body, layout: 'narrow' });
}

export async function submitConfirm({ deps, form, session, address }: SessionCall): Promise<Answer> {
  if (!session.member) return redirect('/console/confirm');
  const { email } = session.member;
  const { tenant } = session;
  await requestLogin(deps, { email, tenant, next: parseNext(form.get('next')) }, address);
  return page(sentPage(email));
}

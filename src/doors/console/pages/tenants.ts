/** `/console/tenants`: the tenants of a person, to move between them, and the invitations that wait for a yes. */
import { type Html, html } from '@boxoffice/pages/html';
import { findEntrance } from '../../../access/logins/find-entrance.ts';
import {
  declineTenant,
  joinTenant,
  listOwnTenants,
  switchTenant,
} from '../../../access/logins/open-session.ts';
import { addBalances } from '../../../access/members/invited-credit.ts';
import type { Membership } from '../../../access/members/member.ts';
import { provedAddressOf } from '../../../access/sessions/session.ts';
import { notFound } from '../../../base/failure.ts';
import { hasConsole, parseTenantId, renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { badge, named, scrolling } from '../../consoles/components.ts';
import { parseNext } from '../../consoles/fields.ts';
import { fromOf } from '../../consoles/route.ts';
import { enter } from '../enter.ts';
import type { SessionCall } from '../route.ts';
import { askBeforeDeclining, nextPage, parseAnswer, renderInvitation, WARNING } from './invitations.ts';

const PATH = '/console/tenants';
const INVITATIONS_PATH = '/console/tenants/invitations';

export async function showTenants(call: SessionCall): Promise<Answer> {
  const { deps, session, query } = call;
  const after = parseTenantId(query.get('after') ?? '');
  const afterInvitation = parseTenantId(query.get('after_invitation') ?? '');
  const own = await listOwnTenants(deps, session, 'own', after);
  const invitations = await listOwnTenants(deps, session, 'invitations', afterInvitation);
  const waiting = await addBalances(deps.db, invitations.items);
  const isAlone = own.items.every(({ tenant }) => tenant === session.tenant);
  const body = html`<h1>${named(session.tenantName)}</h1>
<p><code>${renderTenantId(session.tenant)}</code> ${badge(session.tenantStatus)}</p>
${await renderWanted(call)}
${isAlone && after === undefined ? html`<p class="hint">${whyAlone(call)}</p>` : renderOwn(own.items, session.tenant)}
${nextPage(PATH, 'after', own.end?.tenant, 'Tenants that were used earlier')}
${
  waiting.length > 0 &&
  html`<h2>Waiting for your yes</h2>
${WARNING}
${waiting.map((each) => renderInvitation(INVITATIONS_PATH, each))}
${nextPage(PATH, 'after_invitation', invitations.end?.tenant, 'Older invitations')}`
}`;
  return page({ title: 'Tenants', body });
}

function whyAlone({ session }: SessionCall): string {
  return provedAddressOf(session) === undefined
    ? 'Log in by mail to see the other tenants of your address.'
    : 'You are a member of this tenant only.';
}

function renderOwn(own: readonly Membership[], open: TenantId): Html {
  return scrolling(
    'Your tenants',
    html`<table class="rows"><caption>Your tenants</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Id</th><th scope="col">Your role</th><th scope="col">Open</th></tr></thead>
<tbody>${own.map(
      ({ tenant, tenantName, role, tenantStatus }) => html`<tr>
<th scope="row" data-label="Name">${named(tenantName)}</th><td data-label="Id"><code>${renderTenantId(tenant)}</code></td>
<td data-label="Your role">${role}</td><td data-label="Open">${
        tenant === open ? 'open' : openForm({ tenant, tenantName, tenantStatus })
      }</td></tr>`,
    )}</tbody></table>`,
  );
}

/** A button that moves to another tenant of the person. Of one without a console, the page says why. */
export function openForm({
  tenant,
  tenantName,
  tenantStatus,
}: Pick<Membership, 'tenant' | 'tenantName' | 'tenantStatus'>): Html {
  const isOpen = hasConsole(tenantStatus);
  return html`<form class="inline" method="post" action="${PATH}">${!isOpen && html`${badge(tenantStatus, 'bad')} `}
<input type="hidden" name="tenant" value="${renderTenantId(tenant)}"><button>${isOpen ? 'Open' : 'See why'} <span class="hidden">${named(tenantName)}</span></button></form>`;
}

/** The link leads to a page of another tenant. */
async function renderWanted({ deps, session, query }: SessionCall): Promise<Html | undefined> {
  const wanted = parseTenantId(query.get('open') ?? '');
  if (wanted === undefined || wanted === session.tenant) return undefined;
  const email = provedAddressOf(session);
  const next = parseNext(query.get('next'));
  const found =
    email === undefined ? undefined : await findEntrance(deps.db, { email, tenant: wanted }, next);
  if (found?.own?.tenant === wanted) {
    return html`<div class="note"><p>The page is of <strong>${named(found.own.tenantName)}</strong>, and another tenant is open.</p>
<form method="post" action="${PATH}"><input type="hidden" name="tenant" value="${renderTenantId(wanted)}">
<input type="hidden" name="next" value="${next}">
<p><button class="primary">Open it, and go to the page</button></p></form></div>`;
  }
  const invitation = found?.invitations.find(({ tenant }) => tenant === wanted);
  const [shown] = await addBalances(deps.db, invitation ? [invitation] : []);
  if (shown) return renderInvitation(INVITATIONS_PATH, shown);
  return html`<p class="alert" role="alert">The page is of the tenant <code>${renderTenantId(wanted)}</code>, which this log-in
does not reach. Log out, and log in with an address that is a member of it.</p>`;
}

export async function submitTenant(call: SessionCall): Promise<Answer> {
  const { deps, session, form } = call;
  const to = parseTenantId(form.get('tenant') ?? '');
  const secret = await switchTenant(deps, session, to, fromOf(call));
  if (secret === undefined) throw notFound('tenant');
  return enter(deps, form.get('next'), secret);
}

/** `POST /console/tenants/invitations`: yes or no. */
export async function submitInvitationAnswer(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const answer = parseAnswer(form);
  const asked = await askBeforeDeclining(call, INVITATIONS_PATH, provedAddressOf(session));
  if (asked) return asked;
  if (answer?.isYes) {
    const secret = await joinTenant(deps, session, answer.tenant, fromOf(call));
    if (secret !== undefined) return enter(deps, undefined, secret);
  } else if (answer && (await declineTenant(deps, session, answer.tenant, address))) {
    return done(PATH, 'You declined.');
  }
  throw notFound('invitation');
}

/** `/console/tenants`: the tenants of a person, to move between them. */
import { type Html, html } from '@boxoffice/pages/html';
import { listOwnTenants, switchTenant } from '../../../access/sessions/open-session.ts';
import { provedAddressOf } from '../../../access/sessions/session.ts';
import { notFound } from '../../../base/failure.ts';
import { parseTenantId, renderTenantId, type TenantStatus } from '../../../base/tenants/tenant.ts';
import { type Answer, page, redirect } from '../../pages/answer.ts';
import { badge, named, scrolling } from '../../pages/components.ts';
import { parseNext } from '../../pages/fields.ts';
import { fromOf, type SessionCall } from '../route.ts';

export async function showTenants(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  const own = await listOwnTenants(deps, session);
  const body = html`<h1>${named(session.tenantName)}</h1>
<p><code>${renderTenantId(session.tenant)}</code> ${badge(session.tenantStatus)}</p>
${renderWanted(call, own)}
${
  own.length > 1
    ? scrolling(
        'Your tenants',
        html`<table class="rows"><caption>Your tenants</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Id</th><th scope="col">Your role</th><th scope="col">Open</th></tr></thead>
<tbody>${own.map(
          ({ tenant, tenantName, role, tenantStatus }) => html`<tr>
<th scope="row" data-label="Name">${named(tenantName)}</th><td data-label="Id"><code>${renderTenantId(tenant)}</code></td>
<td data-label="Your role">${role}</td><td data-label="Open">${
            tenant === session.tenant
              ? 'open'
              : !isUsable(tenantStatus)
                ? tenantStatus
                : openForm({ tenant, tenantName })
          }</td></tr>`,
        )}</tbody></table>`,
      )
    : html`<p class="hint">${
        provedAddressOf(session) === undefined
          ? 'Log in by mail to see the other tenants of your address.'
          : 'You are a member of this tenant only.'
      }</p>`
}`;
  return page({ title: 'Tenants', body });
}

/** A button that moves to another tenant of the person. */
export function openForm({ tenant, tenantName }: Pick<OwnTenants[number], 'tenant' | 'tenantName'>): Html {
  return html`<form class="inline" method="post" action="/console/tenants">
<input type="hidden" name="tenant" value="${renderTenantId(tenant)}"><button>Open <span class="hidden">${named(tenantName)}</span></button></form>`;
}

type OwnTenants = Awaited<ReturnType<typeof listOwnTenants>>;

/** Somebody followed a link to a page of another tenant. */
function renderWanted({ session, query }: SessionCall, own: OwnTenants): Html | undefined {
  const wanted = parseTenantId(query.get('open') ?? '');
  if (wanted === undefined || wanted === session.tenant) return undefined;
  const found = own.find(({ tenant, tenantStatus }) => tenant === wanted && isUsable(tenantStatus));
  if (!found) {
    return html`<p class="alert" role="alert">The page is of the tenant <code>${renderTenantId(wanted)}</code>, which this log-in
does not reach. Log out, and log in with an address that is a member of it.</p>`;
  }
  return html`<div class="note"><p>The page is of <strong>${named(found.tenantName)}</strong>, and another tenant is open.</p>
<form method="post" action="/console/tenants"><input type="hidden" name="tenant" value="${renderTenantId(wanted)}">
<input type="hidden" name="next" value="${parseNext(query.get('next'))}">
<p><button class="primary">Open it, and go to the page</button></p></form></div>`;
}

export function isUsable(status: TenantStatus): boolean {
  return status === 'active' || status === 'pending';
}

export async function submitTenant(call: SessionCall): Promise<Answer> {
  const { deps, session, form } = call;
  const to = parseTenantId(form.get('tenant') ?? '');
  const secret = await switchTenant(deps, session, to, fromOf(call));
  if (secret === undefined) throw notFound('tenant');
  return redirect(parseNext(form.get('next')), { secret });
}

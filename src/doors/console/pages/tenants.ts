/** `/console/tenants`: the tenants of a person, to move between them. */
import { html } from '@boxoffice/pages/html';
import { listOwnTenants, switchTenant } from '../../../access/sessions/open-session.ts';
import { notFound } from '../../../base/failure.ts';
import { parseTenantId, renderTenantId } from '../../../base/tenants/tenant.ts';
import { badge, named, scrolling } from '../components.ts';
import { type Answer, page, redirect, type SessionCall } from '../route.ts';

export async function showTenants({ deps, session }: SessionCall): Promise<Answer> {
  const own = await listOwnTenants(deps, session);
  const body = html`<h1>${named(session.tenantName)}</h1>
<p><code>${renderTenantId(session.tenant)}</code> ${badge(session.tenantStatus)}</p>
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
              : tenantStatus !== 'active' && tenantStatus !== 'pending'
                ? tenantStatus
                : html`<form class="inline" method="post" action="/console/tenants">
<input type="hidden" name="tenant" value="${renderTenantId(tenant)}"><button>Open <span class="hidden">${named(tenantName)}</span></button></form>`
          }</td></tr>`,
        )}</tbody></table>`,
      )
    : html`<p class="hint">${
        session.proof === 'mail'
          ? 'You are a member of this tenant only.'
          : 'Log in by mail to see the other tenants of your address.'
      }</p>`
}`;
  return page({ title: 'Tenants', body });
}

export async function submitTenant({ deps, session, form }: SessionCall): Promise<Answer> {
  const secret = await switchTenant(deps, session, parseTenantId(form.get('tenant') ?? ''));
  if (secret === undefined) throw notFound('tenant');
  return redirect('/console', { secret });
}

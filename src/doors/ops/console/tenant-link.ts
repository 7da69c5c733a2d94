/** Where operators look at a tenant. */
import { type Html, html } from '@boxoffice/pages/html';
import { renderTenantId, type Tenant, type TenantId } from '../../../base/tenants/tenant.ts';

export function tenantPath({ id }: Pick<Tenant, 'id'>): string {
  return `/console/tenants/${renderTenantId(id)}`;
}

/** Nothing for what belongs to no tenant. */
export function tenantLink(tenant: TenantId | null): Html | undefined {
  if (tenant === null) return undefined;
  const id = renderTenantId(tenant);
  return html`<a href="/console/tenants/${id}"><code>${id}</code></a>`;
}

/** What stands below a page that shows what a tenant has. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Tenant } from '../../../base/tenants/tenant.ts';
import { tenantPath } from './tenant-link.ts';

export function readNote(tenant: Tenant): Html {
  return html`<p class="hint">The audit trail of the tenant says, once an hour, that an operator read this.</p>
<p><a href="${tenantPath(tenant)}">Back to the tenant</a></p>`;
}

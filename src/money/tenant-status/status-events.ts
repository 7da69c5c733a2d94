/** The event of a change of a tenant's status or exemption from charging. */
import type { TenantStatus } from '../../base/tenants/tenant.ts';
import type { NewEvent } from '../../events/event.ts';

export const STATUS_EVENTS = {
  tenant_status_changed: 'The status of the tenant, or its exemption from charging, changed.',
} as const;

/** The subject of `tenant_status_changed`. */
export interface StatusChange {
  readonly from: TenantStatus;
  readonly to: TenantStatus;
  readonly exempt: boolean;
  /** Whether new sessions and tokens are admitted from now on. */
  readonly admitted: boolean;
}

export function tenantStatusChanged(change: StatusChange): NewEvent {
  return { type: 'tenant_status_changed', roomUid: null, subject: change };
}

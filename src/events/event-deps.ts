/** Dependencies of operations that append events. */
import type { BaseDeps } from '../base/deps.ts';
import type { TenantId } from '../base/tenants/tenant.ts';

export interface EventDeps extends BaseDeps {
  /** Call `wake()` after the commit, so that readers and listeners see the events at once. */
  readonly events: { wake(tenant: TenantId): void };
}

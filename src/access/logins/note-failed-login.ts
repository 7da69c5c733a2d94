/** A log-in that failed, in the audit trail of the tenant that it would have opened. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Proof } from '../sessions/session.ts';
import type { LoginLimit } from './login-limit.ts';

export interface FailedLogin {
  readonly tenant: TenantId;
  /** The member or key whose log-in was tried; `null`: an operator's. */
  readonly subject: string | null;
  readonly proof: Proof;
}

/** Only some of a client and of a tenant are noted each hour. The caller is unknown, so the service itself is the actor. */
export async function noteFailedLogin(
  deps: Pick<BaseDeps, 'db'> & { readonly loginLimit: LoginLimit },
  { tenant, subject, proof }: FailedLogin,
  address: string,
): Promise<void> {
  if (!(await deps.loginLimit.countFailure(tenant, address))) return;
  const actor: Actor = { kind: 'system', id: 'log_in', address };
  const entry = { action: 'login_failed', subject, before: null, after: { proof } };
  await appendAudit(deps.db, tenant, actor, entry);
}

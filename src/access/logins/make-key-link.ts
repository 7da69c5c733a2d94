/** Make a link that logs in once, for the holder of an API key: `POST /console/session`. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { hasConsole } from '../../base/tenants/tenant.ts';
import { authenticate, type KeyDeps } from '../keys/authenticate.ts';
import { parseAuthorization } from '../keys/verify-secret.ts';
import { CONSOLE_PATH } from './login-link.ts';
import { noteFailedLogin } from './note-failed-login.ts';
import { type LoginDeps, makeLink } from './request-login.ts';

export interface KeyLinkDeps extends KeyDeps, Omit<LoginDeps, 'config'> {
  readonly config: KeyDeps['config'] & LoginDeps['config'];
}

/** Returns the address of the link. Fails as `authenticate()` does, and with `tenant_not_active`. */
export async function makeKeyLink(
  deps: KeyLinkDeps,
  authorization: string | undefined,
  address: string,
): Promise<string> {
  const caller = await authenticate(deps, authorization, 'backend', address).catch(async (error) => {
    await noteWrongKey(deps, error, { authorization, address });
    throw error;
  });
  const { tenant, keyId, tenantStatus, actor } = caller;
  if (!hasConsole(tenantStatus)) throw new Failure('tenant_not_active');
  return inTransaction(deps.db, async (tx) => {
    const entry = { action: 'key_exchanged', subject: keyId, before: null, after: null };
    await appendAudit(tx, tenant, actor, entry);
    return makeLink(tx, deps.config.publicUrl, { proof: 'key', tenant, keyId, next: CONSOLE_PATH });
  });
}

/** The id in the key says whose it would be. */
async function noteWrongKey(
  deps: KeyLinkDeps,
  error: unknown,
  { authorization, address }: { readonly authorization: string | undefined; readonly address: string },
): Promise<void> {
  if (!(error instanceof Failure) || error.kind !== 'invalid_api_key') return;
  const id = parseAuthorization(authorization, deps.config.keyPrefix)?.id;
  const key = id === undefined ? undefined : await deps.keyLookups.find(id);
  if (key) await noteFailedLogin(deps, { tenant: key.tenant, subject: key.id, proof: 'key' }, address);
}

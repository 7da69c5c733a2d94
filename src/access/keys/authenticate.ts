/** Authenticates callers by API key. Source: specification 5. Every failure gives the same message. */

import type { Actor } from '../../base/audit/actor.ts';
import { Failure } from '../../base/failure.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import type { Caller, KeyKind, KeyTrust } from './api-key.ts';
import type { FailedKeys } from './failed-keys.ts';
import type { KeyLookups } from './key-lookups.ts';
import type { LastUses } from './last-uses.ts';
import { parseAuthorization, verifySecret } from './verify-secret.ts';

export interface KeyDeps extends EventDeps {
  readonly keyLookups: KeyLookups;
  readonly failedKeys: FailedKeys;
  readonly lastUses: LastUses;
  readonly config: { readonly keyPrefix: string };
}

export interface AuthenticatedCaller extends Caller, LimitedCaller, KeyTrust {
  readonly ceiling: KeyCeiling;
  /** The caller, in the audit trail. */
  readonly actor: Actor;
}

/** Like `authenticate()`, for a request that was authenticated before: its key may be revoked by now. It is no further use of the key. */
export async function authenticateAgain(
  deps: KeyDeps,
  authorization: string | undefined,
  kind: KeyKind,
  address: string,
): Promise<AuthenticatedCaller> {
  return ofKind(kind, await findCaller(deps, authorization, address));
}

/** Like `authenticateKey`, but also fails with `invalid_api_key` for a working key of the other kind. */
export async function authenticate(
  deps: KeyDeps,
  authorization: string | undefined,
  kind: KeyKind,
  address: string,
): Promise<AuthenticatedCaller> {
  return ofKind(kind, await authenticateKey(deps, authorization, address));
}

function ofKind(kind: KeyKind, caller: AuthenticatedCaller): AuthenticatedCaller {
  if (caller.kind !== kind) throw new Failure('invalid_api_key');
  return caller;
}

/**
 * The caller behind an `Authorization` header, with a working key of either kind.
 *
 * Fails with `invalid_api_key`; with `too_many_failed_keys` when too many wrong keys came from
 * the address.
 */
export async function authenticateKey(
  deps: KeyDeps,
  authorization: string | undefined,
  address: string,
): Promise<AuthenticatedCaller> {
  const caller = await findCaller(deps, authorization, address);
  deps.lastUses.noteKey(caller.tenant, caller.keyId, address);
  return caller;
}

async function findCaller(
  deps: KeyDeps,
  authorization: string | undefined,
  address: string,
): Promise<AuthenticatedCaller> {
  const secret = parseAuthorization(authorization, deps.config.keyPrefix);
  if (!secret) throw new Failure('invalid_api_key');

  const key = await verifySecret(deps.failedKeys, secret, address, (id) => deps.keyLookups.find(id));
  return {
    tenant: key.tenant,
    keyId: key.id,
    kind: key.kind,
    tenantStatus: key.status,
    tenantLimits: key.limits,
    ceiling: key.ceiling,
    isTrusted: key.isTrusted,
    actor: { kind: 'key', id: key.id, address },
  };
}

/** Sign a snapshot of the revocations of a tenant's tokens. */

import { signJws } from '../../access/tokens/jws.ts';
import type { Signer } from '../../access/tokens/signer.ts';
import type { Db } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findRevocations } from './revocations.sql.ts';
import { REVOCATIONS_TYPE, revocationClaimsOf } from './revocations.ts';

export interface Snapshot {
  readonly seq: bigint;
  /** A compact JWS of `RevocationClaims`. */
  readonly jws: string;
}

/** The dependencies of publishing. */
export interface Publisher {
  readonly db: Db;
  readonly signer: Signer;
  readonly publicUrl: string;
}

/** `undefined`: there is no such tenant. */
export async function signRevocations(
  { db, signer, publicUrl }: Publisher,
  tenant: TenantId,
): Promise<Snapshot | undefined> {
  const state = await findRevocations(db, tenant);
  if (!state) return undefined;
  const { seq, kid } = state;
  assert(kid !== null, 'a signing key is active');
  const claims = revocationClaimsOf(tenant, state, publicUrl);
  return { seq, jws: await signJws(signer, { kid, typ: REVOCATIONS_TYPE }, claims) };
}

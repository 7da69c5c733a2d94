/** What a session of the console may do with the keys of its tenant. */
import type { Tx } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import { DEFAULT_CEILING, WIDEST_CEILING } from '../rights/key-ceiling.ts';
import { changerOf, type Session } from '../sessions/session.ts';
import { findNewestCeiling, lockCeiling } from './keys.sql.ts';
import type { KeyChanger } from './lock-key.ts';

/** A session by key may do what the key may. Any other one changes every key, and widens none. */
export async function keyChangerOf(tx: Tx, session: Session, address: string): Promise<KeyChanger> {
  const { tenantStatus, tenantLimits, keyId, isTrusted } = session;
  const ceiling = keyId === undefined ? WIDEST_CEILING : await lockCeiling(tx, keyId);
  assert(ceiling, 'ceiling of the key of a session');
  return { ...changerOf(session, address), tenantStatus, tenantLimits, keyId, isTrusted, ceiling };
}

/**
 * A new key inherits a ceiling. It is that of the newest backend key, so that an operator who lowered the ceilings of
 * a tenant's keys has lowered those of the next ones too.
 */
export async function keyCreatorOf(tx: Tx, session: Session, address: string): Promise<KeyChanger> {
  const changer = await keyChangerOf(tx, session, address);
  if (session.keyId !== undefined) return changer;
  return { ...changer, ceiling: (await findNewestCeiling(tx, session.tenant)) ?? DEFAULT_CEILING };
}

/** The session that one usage record belongs to, by the rule that assigns usage. */
import { prepareUsername } from '../../access/usernames/username.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ListedRecord } from '../../money/usage/list-records.ts';
import { chooseStay } from './match-session.ts';
import { findAssignedUntil } from './session-cursors.sql.ts';
import { findCandidates } from './sessions.sql.ts';

/** The id of a session, or why there is none. */
export type SessionOfRecord =
  | { readonly id: string }
  | { readonly without: 'no participant' | 'never entered' | 'not assigned yet' };

export async function findSessionOf(
  db: Db,
  tenant: TenantId,
  { room, participant: name, seconds, at }: Pick<ListedRecord, 'room' | 'participant' | 'seconds' | 'at'>,
): Promise<SessionOfRecord> {
  if (!room || !name) return { without: 'no participant' };
  if (at >= (await findAssignedUntil(db, tenant))) return { without: 'not assigned yet' };
  const participant = prepareUsername(name) ?? name;
  const stay = chooseStay(await findCandidates(db, tenant, [{ room, participant }], at), { at, seconds });
  return stay ? { id: stay.id } : { without: 'never entered' };
}

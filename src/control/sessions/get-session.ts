/** One session, with its newest records. */
import { prepareUsername } from '../../access/usernames/username.ts';
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ERASED } from '../../money/records/usage-record.ts';
import { findNewestRecords, type ListedRecord } from '../../money/usage/list-records.ts';
import { isSessionId, SESSION_RECORDS_MAX, type Session } from './session.ts';
import { findAssignedUntil } from './session-cursors.sql.ts';
import { findSession } from './sessions.sql.ts';

export interface ShownSession {
  readonly session: Session;
  /** The newest, if they are at hand. */
  readonly records: readonly ListedRecord[];
  /** Its sums have all charges before this time. */
  readonly assignedUntil: Date;
}

/** Fails with `not_found`. */
export async function getSession(db: Db, tenant: TenantId, id: string): Promise<ShownSession> {
  const assignedUntil = await findAssignedUntil(db, tenant);
  const session = isSessionId(id) ? await findSession(db, tenant, id) : undefined;
  if (!session) throw new Failure('not_found');
  return { session, records: await findRecords(db, tenant, session), assignedUntil };
}

/** Records of people who were erased cannot be told apart. */
async function findRecords(db: Db, tenant: TenantId, session: Session): Promise<readonly ListedRecord[]> {
  const { room, participant, firstSeq, lastSeq, usage } = session;
  if (firstSeq === null || lastSeq === null || participant === ERASED) return [];
  const isNamed = (name: string) => prepareUsername(name) === participant || name === participant;
  const wanted = { room, participant, firstSeq, lastSeq, records: usage.records, isNamed };
  return findNewestRecords(db, tenant, wanted, SESSION_RECORDS_MAX);
}

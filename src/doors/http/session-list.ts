/** Lists of sessions: their cursors, their columns, and all of them as a stream. */
import { isKeyId } from '../../access/keys/api-key.ts';
import type { Db } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { listSessions } from '../../control/sessions/list-sessions.ts';
import {
  isSessionId,
  type ListedSession,
  type Session,
  type SessionFilter,
  type SessionPlace,
  secondsByTier,
} from '../../control/sessions/session.ts';
import { plainDollars } from '../../money/amount.ts';
import { TIERS } from '../../money/pricing/role.ts';
import type { Columns, ItemStream } from './item-stream.ts';
import { noSuchPage } from './no-such-page.ts';
import { readOwnCursor, renderOwnCursor } from './own-cursor.ts';

const STRETCH = 2_000;

/** The id of a key or credential. Fails with `invalid_request`. */
export function parseKeyFilter(key: string | undefined): string | undefined {
  if (key !== undefined && !isKeyId(key)) throw invalidField('key', 'must be 16 hex characters');
  return key;
}

export const SESSION_COLUMNS = {
  entered_at: ({ enteredAt }: Session) => enteredAt.toISOString(),
  left_at: ({ leftAt }: Session) => leftAt?.toISOString(),
  leave_reason: ({ leaveReason }: Session) => leaveReason,
  id: ({ id }: Session) => id,
  room: ({ room }: Session) => room,
  room_uid: ({ roomUid }: Session) => roomUid,
  participant: ({ participant }: Session) => participant,
  role: ({ role }: Session) => role,
  key_id: ({ keyId }: Session) => keyId,
  customer: ({ customer }: Session) => customer,
  devices: ({ devices }: Session) => devices.join(' '),
  records: ({ usage }: Session) => usage.records,
  ...Object.fromEntries(
    TIERS.map((tier) => [`${tier}_seconds`, ({ usage }: Session) => secondsByTier(usage)[tier]]),
  ),
  egress_bytes: ({ usage }: Session) => usage.egressBytes,
  ingress_bytes: ({ usage }: Session) => usage.ingressBytes,
  micros: ({ usage }: Session) => usage.amount,
  dollars: ({ usage }: Session) => plainDollars(usage.amount),
  unbilled_micros: ({ usage }: Session) => usage.unbilled,
} satisfies Columns<Session>;

export function renderSessionPlace(tenant: TenantId, { entered, id }: SessionPlace): string {
  return renderOwnCursor(renderTenantId(tenant), [String(entered), id]);
}

/** `null`: the first page. Fails with `invalid_request`. */
export function parseSessionPlace(cursor: string | undefined, tenant: TenantId): SessionPlace | null {
  if (cursor === undefined) return null;
  const [entered = '', id = '', ...others] = readOwnCursor(cursor, renderTenantId(tenant));
  if (!/^\d{1,16}$/.test(entered) || !isSessionId(id) || others.length > 0) throw noSuchPage();
  return { entered: BigInt(entered), id };
}

export function sessionStream(
  db: Db,
  tenant: TenantId,
  filter: SessionFilter,
): ItemStream<ListedSession, SessionPlace | null, Session> {
  return {
    start: null,
    render: (session) => session,
    read: async (after) => {
      const { items, end } = await listSessions(db, tenant, filter, after, STRETCH);
      return { items, next: end };
    },
  };
}

/** SQL of `mails`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { ALERTS_A_DAY_MAX, LEASE_SECONDS, type Mail, type MailKind, type MailState } from './mail.ts';

export interface NewMail {
  readonly id: string;
  readonly address: string;
  readonly kind: MailKind;
  readonly event: LoggedEvent;
  readonly isLast: boolean;
  readonly isSuppressed: boolean;
}

/** How many alerts each address got today (UTC) at most, in lower case. The caller holds the turn of the tenant. */
export async function countAlertsOfDay(tx: Tx, tenant: TenantId): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ address: string; count: number }>({
    name: 'count-alerts-of-day',
    text: `select lower(address) as address, least(count(*), ${ALERTS_A_DAY_MAX})::integer as count
             from mails
            where tenant_id = $1 and created_at >= date_trunc('day', now(), 'UTC')
              and kind = 'alert' and state <> 'suppressed'
            group by lower(address)`,
    values: [tenant],
  });
  return new Map(rows.map(({ address, count }) => [address, count]));
}

/** At most one mail for each event and address. */
export async function insertMails(tx: Tx, tenant: TenantId, mails: readonly NewMail[]): Promise<void> {
  await tx.query({
    name: 'insert-mails',
    text: `insert into mails (tenant_id, id, address, kind, event_seq, event_type, event_at, subject, is_last,
                              state, finished_at)
           select $1, id, address, kind, seq, type, at, subject::jsonb, is_last,
                  case when is_suppressed then 'suppressed' else 'waiting' end,
                  case when is_suppressed then now() end
             from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::timestamptz[],
                         $8::text[], $9::boolean[], $10::boolean[])
                  as m (id, address, kind, seq, type, at, subject, is_last, is_suppressed)
           on conflict (tenant_id, event_seq, address) do nothing`,
    values: [
      tenant,
      mails.map(({ id }) => id),
      mails.map(({ address }) => address),
      mails.map(({ kind }) => kind),
      mails.map(({ event }) => event.seq),
      mails.map(({ event }) => event.type),
      mails.map(({ event }) => event.at),
      mails.map(({ event }) => JSON.stringify(event.subject)),
      mails.map(({ isLast }) => isLast),
      mails.map(({ isSuppressed }) => isSuppressed),
    ],
  });
}

const COLUMNS = `m.id, m.tenant_id as tenant, t.name as "tenantName", m.address, m.kind,
  json_build_object('type', m.event_type, 'subject', m.subject) as event, m.event_at as "eventAt",
  m.is_last as "isLast", m.state, m.created_at as "createdAt", m.attempts, m.error`;

type Row = Omit<StoredMail, 'event'> & { event: { type: string; subject: unknown }; eventAt: Date };

/** A mail, and how its delivery goes. */
export interface StoredMail extends Mail {
  /** Those that were begun, with the current one. */
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly error: string | null;
}

function storedMail({ eventAt, event, ...mail }: Row): StoredMail {
  return { ...mail, event: { ...event, at: eventAt } as Mail['event'] };
}

/** Take the mail that has been due for longest. Nobody else takes it before the lease ends. */
export async function takeMail(db: Db): Promise<StoredMail | undefined> {
  const { rows } = await db.query<Row>({
    name: 'take-mail',
    text: `with due as (
             select id from mails where state = 'waiting' and next_at <= now()
              order by next_at limit 1 for update skip locked
           )
           update mails m set attempts = m.attempts + 1, next_at = now() + interval '${LEASE_SECONDS} s'
             from due, tenants t where m.id = due.id and t.id = m.tenant_id
           returning ${COLUMNS}`,
  });
  return rows[0] && storedMail(rows[0]);
}

type Taken = Pick<StoredMail, 'id' | 'attempts'>;

/** The mail has come to its end, unless another process has taken it meanwhile. */
export async function finishMail(
  db: Db,
  { id, attempts }: Taken,
  state: MailState,
  error: string | null,
): Promise<void> {
  await db.query({
    name: 'finish-mail',
    text: `update mails set state = $3, error = $4, finished_at = now()
            where id = $1 and attempts = $2 and state = 'waiting'`,
    values: [id, attempts, state, error],
  });
}

/** Try it again after `seconds`, unless another process has taken it meanwhile. */
export async function putOffMail(
  db: Db,
  { id, attempts }: Taken,
  seconds: number,
  error: string,
): Promise<void> {
  await db.query({
    name: 'put-off-mail',
    text: `update mails set next_at = now() + make_interval(secs => $3), error = $4
            where id = $1 and attempts = $2 and state = 'waiting'`,
    values: [id, attempts, seconds, error],
  });
}

/** Without a mail server: what is due is kept, to be read elsewhere. Returns what was kept. */
export async function keepMails(
  db: Db,
  limit: number,
): Promise<{ id: string; tenant: TenantId; type: string }[]> {
  const { rows } = await db.query<{ id: string; tenant: TenantId; type: string }>({
    name: 'keep-mails',
    text: `with due as (
             select id from mails where state = 'waiting' and next_at <= now()
              order by next_at limit $1 for update skip locked
           )
           update mails m set state = 'kept', finished_at = now() from due where m.id = due.id
           returning m.id, m.tenant_id as tenant, m.event_type as type`,
    values: [limit],
  });
  return rows;
}

/** Of all tenants, newest first. */
export async function listMails(db: Db, limit: number): Promise<StoredMail[]> {
  const { rows } = await db.query<Row>({
    name: 'list-mails',
    text: `select ${COLUMNS} from mails m join tenants t on t.id = m.tenant_id
            order by m.created_at desc, m.event_seq desc, m.id limit $1`,
    values: [limit],
  });
  return rows.map(storedMail);
}

export async function findMail(db: Db, id: string): Promise<StoredMail | undefined> {
  const { rows } = await db.query<Row>({
    name: 'find-mail',
    text: `select ${COLUMNS} from mails m join tenants t on t.id = m.tenant_id where m.id = $1`,
    values: [id],
  });
  return rows[0] && storedMail(rows[0]);
}

/** Delete up to `limit` mails that are older than `days`. Returns how many were deleted. */
export async function deleteOldMails(db: Db, options: { days: number; limit: number }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete-old-mails',
    text: `delete from mails where id in (
             select id from mails where created_at < now() - make_interval(days => $1)
              order by created_at limit $2 for update skip locked)`,
    values: [options.days, options.limit],
  });
  return rowCount ?? 0;
}

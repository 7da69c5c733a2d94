/** SQL of `mails`. */
import { LINK_MINUTES } from '../../access/logins/login-link.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import {
  ALERTS_A_DAY_MAX,
  COUNTED_MAX,
  type EventMailKind,
  LEASE_SECONDS,
  type Mail,
  type MailState,
  type MailType,
} from './mail.ts';

export interface NewMail {
  readonly id: string;
  readonly address: string;
  readonly kind: EventMailKind;
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

export interface NewConsoleMail {
  readonly id: string;
  readonly tenant: TenantId | undefined;
  readonly address: string;
  readonly type: MailType;
  readonly subject: object;
  /** The sealed secret of a link, which expires with the one that the same transaction makes. */
  readonly sealed: Buffer | undefined;
}

/** Nothing is written unless `isWanted`, in as much time. */
export async function insertConsoleMail(
  tx: Tx,
  { id, tenant, address, type, subject, sealed }: NewConsoleMail,
  isWanted: boolean,
): Promise<void> {
  await tx.query({
    name: 'insert-console-mail',
    text: `insert into mails (id, tenant_id, address, kind, event_type, event_at, subject, sealed, expires_at)
           select $1, $2::bigint, $3, 'console', $4, now(), $5::jsonb, $6::bytea,
                  case when $6::bytea is not null then now() + interval '${LINK_MINUTES} minutes' end
            where $7::boolean`,
    values: [id, tenant ?? null, address, type, JSON.stringify(subject), sealed ?? null, isWanted],
  });
}

const COLUMNS = `m.id, m.tenant_id as tenant, t.name as "tenantName", m.address, m.kind,
  json_build_object('type', m.event_type, 'subject', m.subject) as event, m.event_at as "eventAt",
  m.is_last as "isLast", m.state, m.created_at as "createdAt", m.attempts, m.error, m.sealed,
  extract(epoch from m.expires_at - now())::float8 as "linkSeconds"`;

type Row = Omit<StoredMail, 'event'> & { event: { type: string; subject: unknown }; eventAt: Date };

/** A mail, and how its delivery goes. */
export interface StoredMail extends Mail {
  /** Those that were begun, with the current one. */
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly error: string | null;
  /** The secret of the link, unless it was erased, or there is none. */
  readonly sealed: Buffer | null;
  /** Until the link expires. `null`: the mail has none. */
  readonly linkSeconds: number | null;
}

function storedMail({ eventAt, event, ...mail }: Row): StoredMail {
  return { ...mail, event: { ...event, at: eventAt } as Mail['event'] };
}

/** Those of the console go first. A mail is not taken once its link has expired. */
const DUE = `select id, tenant_id from mails
              where state = 'waiting' and next_at <= now() and (expires_at is null or expires_at > now())
              order by kind <> 'console', next_at`;

/** Take the mail that has been due for longest. No other process takes it before the lease ends. */
export async function takeMail(db: Db): Promise<StoredMail | undefined> {
  const { rows } = await db.query<{ id: string }>({
    name: 'take-mail',
    text: `with due as (${DUE} limit 1 for update skip locked)
           update mails m set attempts = m.attempts + 1, next_at = now() + interval '${LEASE_SECONDS} s'
             from due where m.id = due.id
           returning m.id`,
  });
  return rows[0] && findMail(db, rows[0].id);
}

type Taken = Pick<StoredMail, 'id' | 'attempts'>;

/** The mail has come to its end, unless another process has taken it meanwhile. The secret is erased. */
export async function finishMail(
  db: Db,
  { id, attempts }: Taken,
  state: MailState,
  error: string | null,
): Promise<void> {
  await db.query({
    name: 'finish-mail',
    text: `update mails set state = $3, error = $4, finished_at = now(), sealed = null
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

export interface KeptMail {
  readonly id: string;
  readonly tenant: TenantId | null;
  readonly type: MailType;
}

/** Without a mail server: what is due is kept, to be read elsewhere. Secrets stay only where they are shown. */
export async function keepMails(
  db: Db,
  { limit, keepsSecrets }: { readonly limit: number; readonly keepsSecrets: boolean },
): Promise<KeptMail[]> {
  const { rows } = await db.query<KeptMail>({
    name: 'keep-mails',
    text: `with due as (${DUE} limit $1 for update skip locked)
           update mails m set state = 'kept', finished_at = now(), sealed = case when $2 then m.sealed end
             from due where m.id = due.id
           returning m.id, m.tenant_id as tenant, m.event_type as type`,
    values: [limit, keepsSecrets],
  });
  return rows;
}

/** Erase up to `limit` secrets of links that have expired. Returns the ids, and which mails were not sent before. */
export async function expireMails(db: Db, limit: number): Promise<{ id: string; wasWaiting: boolean }[]> {
  const { rows } = await db.query<{ id: string; wasWaiting: boolean }>({
    name: 'expire-mails',
    text: `with old as (
             select id, state = 'waiting' as "wasWaiting" from mails
              where sealed is not null and expires_at <= now() limit $1 for update skip locked
           )
           update mails m set sealed = null, state = case when "wasWaiting" then 'expired' else state end,
                              finished_at = coalesce(finished_at, now())
             from old where m.id = old.id
           returning m.id, "wasWaiting"`,
    values: [limit],
  });
  return rows;
}

/** The mails of all tenants, newest first. */
export async function listMails(db: Db, limit: number): Promise<StoredMail[]> {
  const { rows } = await db.query<Row>({
    name: 'list-mails',
    text: `select ${COLUMNS} from mails m left join tenants t on t.id = m.tenant_id
            order by m.created_at desc, m.event_seq desc nulls last, m.id limit $1`,
    values: [limit],
  });
  return rows.map(storedMail);
}

export async function findMail(db: Db, id: string): Promise<StoredMail | undefined> {
  const { rows } = await db.query<Row>({
    name: 'find-mail',
    text: `select ${COLUMNS} from mails m left join tenants t on t.id = m.tenant_id where m.id = $1`,
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

export interface MailHealth {
  readonly waiting: number;
  /** Those among them whose last attempt failed. */
  readonly retried: number;
  readonly oldestSeconds: number;
  /** Those of the last day that were not sent. */
  readonly failed: number;
}

/** For operators. */
export async function findMailHealth(db: Db): Promise<MailHealth> {
  const { rows } = await db.query<MailHealth>({
    name: 'find-mail-health',
    text: `select w.*, f.* from
             (select count(*)::integer as waiting, (count(*) filter (where error is not null))::integer as retried,
                     coalesce(extract(epoch from now() - min(created_at)), 0)::double precision as "oldestSeconds"
                from (select created_at, error from mails where state = 'waiting'
                       order by kind <> 'console', next_at limit ${COUNTED_MAX}) as first) as w,
             (select count(*)::integer as failed
                from (select from mails where state in ('failed', 'expired') and finished_at > now() - interval '1 day'
                       limit ${COUNTED_MAX}) as last) as f`,
    values: [],
  });
  return rows[0]!;
}

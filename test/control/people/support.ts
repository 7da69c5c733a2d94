/** People who are used in everything, and where their names are found. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { expect, vi } from 'vitest';
import type { Pool } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { advanceErasures } from '../../../src/control/people/advance-erasures.ts';
import { findRoom } from '../../../src/control/rooms/rooms.sql.ts';
import { watch } from '../../../src/control/watchdogs/watch.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { moved } from '../../support/append-only.ts';
import { createCredential, expectJoined, join } from '../../support/devices.ts';
import { type TestService, usageRecord } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { actor, mint, type Stage } from '../moderation/support.ts';
import { allFollowed, assignAll } from '../sessions/support.ts';
import { arm, passTime } from '../watchdogs/support.ts';

/**
 * The columns of the database that contain a text anywhere, in upper or lower case: `table.column`. Every column of
 * every table is read, whatever its type, so tables of later versions are too.
 */
export async function columnsWith(db: Pool, text: string): Promise<string[]> {
  const { rows: tables } = await db.query<{ table: string; columns: string[] }>(
    `select table_name as table, array_agg(column_name::text order by column_name) as columns
       from information_schema.columns where table_schema = 'public' group by 1 order by 1`,
  );
  expect(tables.length).toBeGreaterThan(30);
  const found: string[] = [];
  for (const { table, columns } of tables) {
    const contain = columns.map(
      (column) => `bool_or(strpos(lower("${column}"::text), lower($1)) > 0) as "${column}"`,
    );
    const { rows } = await db.query<Record<string, boolean | null>>(
      `select ${contain.join(', ')} from "${table}"`,
      [text],
    );
    found.push(...columns.filter((column) => rows[0]![column]).map((column) => `${table}.${column}`));
  }
  return found;
}

const { banSubject, forceMute, kickParticipant } = ModerationService.method;

/**
 * Does to `name`, and lets `name` do, everything that stores a name. In the end the person is gone, and the tokens
 * have expired.
 */
export async function liveThrough(app: TestService, stage: Stage, name: string): Promise<void> {
  const { tenant, control, roomUid } = stage;
  const { db } = app.service.deps;
  const host = { role: 'host', rank: 80 };

  const { credential } = await createCredential(app, tenant);
  expectJoined(await join(app, credential, { room: 'lobby', username: name }));
  await mint(stage, name, host);
  await reportUsage(app, stage, name);
  await assignAll(db, idOf(tenant));
  for (const other of ['bob', 'cem']) await mint(stage, other);
  await control.call(kickParticipant, {
    room: 'lobby',
    username: 'bob',
    reason: `rude to ${name}`,
    actor: actor(name),
  });
  await control.call(banSubject, {
    subject: { case: 'username', value: 'bob' },
    reason: `${name}!`,
    actor: actor(name),
    room: 'lobby',
  });
  await control.call(forceMute, {
    room: 'lobby',
    username: name,
    tracks: [TrackKind.AUDIO],
    reason: 'too loud',
  });
  await control.call(kickParticipant, { room: 'lobby', username: name, reason: `${name} again` });
  await control.call(banSubject, { subject: { case: 'username', value: name }, reason: 'for good' });
  await control.call(ModerationService.method.unbanSubject, {
    subject: { case: 'username', value: name },
  });
  await mint(stage, name, host);
  await watchdogKicks(app, idOf(tenant), roomUid);
  await control.call(banSubject, { subject: { case: 'username', value: name }, reason: 'once more' });
  await forgetExpulsion(db, idOf(tenant));
  await allFollowed(db, idOf(tenant));
}

/** Usage, a report that contradicts it, and one that puts the name where another one was. */
async function reportUsage(app: TestService, { tenant }: Stage, name: string): Promise<void> {
  const report = async (...records: unknown[]) =>
    expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } }));
  const own = usageRecord({ participant: name, room: 'lobby' });
  const mapped = usageRecord({ participant: name.toLowerCase(), room: 'lobby' });
  const others = usageRecord({ participant: 'bob', room: 'lobby' });
  await report(own, mapped, others);
  await report({ ...own, seconds: 61 }, { ...others, participant: name });
}

async function watchdogKicks(app: TestService, tenant: TenantId, roomUid: string): Promise<void> {
  const { deps } = app.service;
  const room = (await findRoom(deps.db, tenant, { uid: roomUid }))!;
  await arm(deps.db, tenant, room, { condition: 'participant_max_duration', action: 'kick' });
  await passTime(deps.db, tenant, room, 61);
  await watch(deps, () => {});
  await vi.waitFor(async () => {
    const { rowCount } = await deps.db.query(
      'select from moderation_events where tenant_id = $1 and watchdog_id is not null',
      [tenant],
    );
    expect(rowCount).toBe(2);
  }, 60_000);
}

/** As if relays had no longer to refuse tokens. */
export async function forgetExpulsion(db: Pool, tenant: TenantId): Promise<void> {
  await db.query(
    `update participants set revoked_at = ${moved('revoked_at', '-1 hour')} where tenant_id = $1`,
    [tenant],
  );
}

/** Work until nothing is pending any more. */
export async function eraseAll(deps: Parameters<typeof advanceErasures>[0]): Promise<number> {
  for (let parts = 0; ; parts += 1) {
    let isMore = false;
    await advanceErasures(deps, () => {
      isMore = true;
    });
    if (!isMore) return parts;
  }
}

/** Records with these ids, without charging them. Their posting does not exist. */
export async function insertUsage(
  db: Pool,
  tenant: TenantId,
  { participants, count, prefix = 'r-' }: { participants: readonly string[]; count: number; prefix?: string },
): Promise<void> {
  await db.query(
    `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier,
                                capped, id, participant)
     select $1, 1, 0, 0, 0, 1, n % 5000, 'h', 'a', false, $4 || lpad(n::text, 8, '0'), ($3::text[])[n % cardinality($3) + 1]
       from generate_series(1, $2) n`,
    [tenant, count, participants, prefix],
  );
}

/** How many records of a tenant have each participant. */
export async function participantsOf(db: Pool, tenant: TenantId): Promise<Record<string, number>> {
  const { rows } = await db.query<{ participant: string; count: number }>(
    `select participant, count(*)::integer from usage_records where tenant_id = $1 group by 1 order by 1`,
    [tenant],
  );
  return Object.fromEntries(rows.map(({ participant, count }) => [participant, count]));
}

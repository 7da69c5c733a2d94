/** A person who was used in everything is found nowhere after the erasure, and no amount changes. */
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { skeleton } from '../../../src/access/usernames/skeleton.ts';
import { inSnapshot } from '../../../src/base/db/transaction.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { runAdmin } from '../../run/admin/support.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { eventsSince, newStage, type Stage } from '../moderation/support.ts';
import { columnsWith, liveThrough } from './support.ts';

/** Not of ASCII alone, and in another case than its username. */
const NAME = 'Zoë.Erasable';

const app = useService();
const controlOf = useControl(app);
const db = () => app.service.deps.db;

interface Sums {
  readonly usage: unknown;
  readonly ledger: unknown;
  readonly events: unknown;
}

/** Everything about money, and about the order of events, but no name. */
async function sumsOf({ tenant }: Stage): Promise<Sums> {
  const id = idOf(tenant);
  const events = (await eventsSince(app, tenant)).map(({ seq, type }) => `${seq} ${type}`);
  return inSnapshot(db(), async (tx) => {
    const usage = await tx.query(
      `select id, posting_seq, line, amount, seconds, egress_bytes, ingress_bytes, role, tier, capped, room
         from usage_records where tenant_id = $1 order by id`,
      [id],
    );
    const ledger = await tx.query(
      'select to_jsonb(p) as posting from postings p where tenant_id = $1 order by seq',
      [id],
    );
    return { usage: usage.rows, ledger: ledger.rows, events };
  });
}

async function erase({ tenant }: Stage, participant: string) {
  const asked = expectOk(
    await app.request('POST', '/v1/participants/erase', { key: tenant.key, body: { participant } }),
    202,
  );
  const look = async () =>
    expectOk(await app.request('GET', `/v1/erasures/${asked.erasure.id}`, { key: tenant.key })).erasure;
  await vi.waitFor(async () => expect(await look()).toMatchObject({ state: 'done' }), 60_000);
  return look();
}

describe('a person who was used in everything', () => {
  let stage: Stage;
  let other: Stage;
  let before: Sums;
  let balance: unknown;
  let columnsBefore: string[];
  let columnsAfter: string[];
  let skeletonsAfter: string[];

  const billing = async (of: Stage) =>
    expectOk(await app.request('GET', '/v1/billing', { key: of.tenant.key }));

  beforeAll(async () => {
    stage = await newStage(app, controlOf);
    await liveThrough(app, stage, NAME);
    before = await sumsOf(stage);
    balance = (await billing(stage)).balance;
    columnsBefore = await columnsWith(db(), NAME);
    await erase(stage, NAME);
    columnsAfter = await columnsWith(db(), NAME);
    skeletonsAfter = await columnsWith(db(), skeleton(NAME.toLowerCase()));
    // Later, so that the other's rows are not found above.
    other = await newStage(app, controlOf);
    await liveThrough(app, other, NAME);
    await erase(other, 'Somebody.Else');
  });

  test('was named in every table that can name people', () => {
    expect(columnsBefore).toEqual([
      'bans.actor',
      'bans.reason',
      'bans.value',
      'events.subject',
      'moderation_events.actor',
      'moderation_events.reason',
      'moderation_events.value',
      'participants.username',
      'session_sums.name',
      'sessions.participant',
      'usage_conflicts.reported',
      'usage_records.participant',
    ]);
  });

  test('is named by no column of any table afterwards', () => {
    expect(columnsAfter).toEqual([]);
    // What the name looks like.
    expect(skeletonsAfter).toEqual([]);
  });

  test('leaves every amount, and the order of events', async () => {
    expect(await sumsOf(stage)).toEqual(before);
    expect((await billing(stage)).balance).toEqual(balance);
    expect(await checkLedger(db())).toEqual([]);
    expect(await runAdmin({ DATABASE_URL: app.ownerUrl }, 'verify')).toMatchObject({ code: 0 });
  });

  test('is a mark in the ledger, among conflicts, in events and in the records of moderation', async () => {
    const { recent } = await billing(stage);
    const details = recent.flatMap(({ detail }: { detail?: string }) => detail ?? []);
    expect(details.toSorted()).toEqual(['(erased)', '(erased)', 'bob']);

    const conflicts = await runAdmin(
      { DATABASE_URL: app.ownerUrl },
      'usage',
      'conflicts',
      stage.tenant.id,
      '--json',
    );
    expect(conflicts.json).toMatchObject([
      expect.objectContaining({ reported: expect.objectContaining({ participant: '(erased)' }) }),
      expect.objectContaining({ reported: expect.objectContaining({ participant: '(erased)' }) }),
    ]);

    const { events } = await stage.control.call(RoomService.method.listEvents, {});
    const text = JSON.stringify(events, (_name, value) => (typeof value === 'bigint' ? `${value}` : value));
    expect(text).toContain('"username":"(erased)"');
    expect(text).toContain('"actor":"(erased)"');
    expect(text).toContain('"username":"bob"');
    expect(text.toLowerCase()).not.toContain('zoë');
  });

  test("keeps what others' names tell, and what is about others", async () => {
    const { rows } = await db().query(
      `select action, value, actor, reason from moderation_events where tenant_id = $1 order by id`,
      [idOf(stage.tenant)],
    );
    const erased = { value: '(erased)', actor: null };
    expect(rows).toEqual([
      { action: 'kick', value: 'bob', actor: '(erased)', reason: '(erased)' },
      { action: 'ban', value: 'bob', actor: '(erased)', reason: '(erased)' },
      { action: 'force_mute', ...erased, reason: '(erased)' },
      { action: 'kick', ...erased, reason: '(erased)' },
      { action: 'ban', ...erased, reason: '(erased)' },
      { action: 'unban', ...erased, reason: '' },
      { action: 'kick', value: 'cem', actor: null, reason: '' },
      { action: 'kick', ...erased, reason: '' },
      { action: 'ban', ...erased, reason: '(erased)' },
    ]);
  });

  test('is no longer banned by name, and those whom the person banned still are', async () => {
    const { rows } = await db().query(
      `select value, lifted_at is null as stands from bans where tenant_id = $1 order by created_at`,
      [idOf(stage.tenant)],
    );
    expect(rows).toEqual([
      { value: 'bob', stands: true },
      { value: '(erased)', stands: false },
      { value: '(erased)', stands: false },
    ]);
  });

  test('of the same name at another tenant is untouched', async () => {
    expect(await columnsWith(db(), NAME)).toEqual(columnsBefore);
    const { recent } = await billing(other);
    const details = recent.flatMap(({ detail }: { detail?: string }) => detail ?? []);
    expect(details.toSorted()).toEqual([NAME, 'bob', NAME.toLowerCase()]);
  });
});

import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { tellingStatements } from '../../../src/money/statements/tell-statements.ts';
import {
  EXPORTED,
  NOT_EXPORTED,
  NOT_EXPORTED_COLUMNS,
} from '../../../src/outward/export/exported-rows.sql.ts';
import { exportTenant } from '../../../src/run/admin/export-tenant.ts';
import { newStage, type Stage } from '../../control/moderation/support.ts';
import { liveThrough } from '../../control/people/support.ts';
import { assignAll } from '../../control/sessions/support.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { useControl } from '../../support/grpc.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { runAdmin, spawnAdmin } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const db = () => app.service.deps.db;
const env = () => ({ DATABASE_URL: app.ownerUrl });

type Row = Record<string, unknown> & { readonly table: string; readonly tenant: string };

const parse = (text: string): Row[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the tables and columns of the schema', () => {
  test('are exported, or left out for a reason', async () => {
    const { rows } = await db().query<{ table: string; column: string }>(
      `select table_name as table, column_name as column
         from information_schema.columns join information_schema.tables using (table_schema, table_name)
        where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const stored = rows
      .filter(({ table }) => !(table in NOT_EXPORTED))
      .map(({ table, column }) => `${table}.${column}`)
      // Each line names the tenant.
      .filter((name) => !name.endsWith('.tenant_id') && name !== 'tenants.id');
    const exported = Object.entries(EXPORTED).flatMap(([table, { columns }]) =>
      columns.split(/,\s*/).map((column) => `${table}.${column.trim()}`),
    );
    expect([...exported, ...NOT_EXPORTED_COLUMNS].toSorted()).toEqual(stored.toSorted());
    const tables = new Set(rows.map(({ table }) => table));
    expect(Object.keys(NOT_EXPORTED).filter((table) => !tables.has(table))).toEqual([]);
  });
});

describe('tenants export', () => {
  let stage: Stage;
  let out: string;
  let lines: Row[];

  beforeAll(async () => {
    stage = await newStage(app, controlOf);
    await liveThrough(app, stage, 'Zoë.Exported');
    await liveThrough(app, await newStage(app, controlOf), 'Another.Tenant');
    // The service writes these rows later, so they would be counted without being in the export.
    await app.service.deps.lastUses.write();
    await numberEvents(db(), [idOf(stage.tenant)]);
    await tellingStatements(app.service.deps)();
    await assignAll(db(), idOf(stage.tenant));
    const exported = await runAdmin(env(), 'tenants', 'export', stage.tenant.id);
    expect(exported).toMatchObject({ code: 0, err: '' });
    out = exported.out;
    lines = parse(out);
  });

  const of = (table: string) => lines.filter((line) => line.table === table);

  test('prints one line for each row of the tenant, and of no other', async () => {
    for (const [table, { where = 'tenant_id = $1' }] of Object.entries(EXPORTED)) {
      const { rows } = await db().query(`select count(*)::integer as count from ${table} where ${where}`, [
        idOf(stage.tenant),
      ]);
      expect([table, of(table).length]).toEqual([table, rows[0].count]);
    }
    expect(new Set(lines.map(({ tenant }) => tenant))).toEqual(new Set([stage.tenant.id]));
    expect(out).not.toContain('another');
    expect(of('usage_records')).toHaveLength(3);
  });

  test('has plain names, words instead of codes, exact amounts and times in UTC', () => {
    expect(of('usage_records')[0]).toMatchObject({
      role: 'host',
      tier: 'hd',
      seconds: 60,
      egress_bytes: 50_000_000,
      room: 'lobby',
      capped: expect.any(Boolean),
      amount: expect.any(Number),
    });
    expect(of('tenants')).toEqual([
      expect.objectContaining({ name: 'Ada Video', email: 'ada@example.com', status: 'active' }),
    ]);
    expect(of('postings').map(({ rounding }) => rounding)).toContain('carry');
    expect(of('postings')[0]!.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/);
    expect(of('accounts')[0]).toMatchObject({ balance: expect.any(Number), last_seq: expect.any(Number) });
  });

  test('has no secret and no hash', () => {
    const { key, relayKey } = stage.tenant;
    for (const secret of [key.slice(21), relayKey.slice(21)]) expect(out).not.toContain(secret);
    expect(out).not.toMatch(/"(hash|range_salt|answer|request_hash)"/);
    expect(out).not.toContain('\\\\x');
  });

  test('shows no name after an erasure', async () => {
    expect(out).toContain('Zoë.Exported');
    expect(await runAdmin(env(), 'participants', 'erase', stage.tenant.id, 'Zoë.Exported')).toMatchObject({
      code: 0,
    });
    const { out: after } = await runAdmin(env(), 'tenants', 'export', stage.tenant.id);
    expect(after.toLowerCase()).not.toContain('zoë');
    expect(parse(after).filter(({ table }) => table === 'usage_records')).toHaveLength(3);
  });

  test('of an unknown tenant fails', async () => {
    const outcome = await runAdmin(env(), 'tenants', 'export', 't_0000000000000000');
    expect(outcome).toMatchObject({ code: 1, out: '', err: 'tenant not found\n' });
  });

  test('ends with an error when nobody reads it any more', async () => {
    const connected = { db: db(), url: app.ownerUrl, config: undefined as never };
    const closed = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    await expect(exportTenant(connected, OPERATOR, idOf(stage.tenant), closed)).rejects.toThrow('EPIPE');
  });
});

describe('a large export', () => {
  const RECORDS = 20_000;

  test('reads no more than its reader takes, and is one state of the database', async () => {
    const tenant = await app.paidTenant();
    await insertRecords(tenant, RECORDS);
    const connected = { db: db(), url: app.ownerUrl, config: undefined as never };
    const taken: string[] = [];
    const waiting: (() => void)[] = [];
    const slow = new Writable({
      highWaterMark: 1,
      write: (chunk, _encoding, done) => {
        taken.push(String(chunk));
        waiting.push(done);
      },
    });
    const exporting = exportTenant(connected, OPERATOR, idOf(tenant), slow);
    const takeOne = async () => {
      await expect.poll(() => waiting.length).toBe(1);
      waiting.shift()!();
    };
    // The cursor is open: a page was taken.
    await takeOne();
    const report = usageRecord({ id: 'zzz-later', participant: 'later' });
    expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [report] } }));
    for (let turns = 0; turns < 200; turns += 1) await turn();
    expect(taken.length).toBeLessThanOrEqual(2);

    let isDone = false;
    void exporting.then(() => {
      isDone = true;
    });
    await expect
      .poll(
        () => {
          waiting.shift()?.();
          return isDone;
        },
        { interval: 1 },
      )
      .toBe(true);
    const lines = parse(taken.join(''));
    // A cluster has no snapshot of all its servers: there, what is written meanwhile may be in the export.
    const later = isDistributed() && taken.join('').includes('zzz-later') ? 1 : 0;
    expect(lines.filter(({ table }) => table === 'usage_records')).toHaveLength(RECORDS + later);
    if (!isDistributed()) expect(taken.join('')).not.toContain('zzz-later');
  });

  test('comes out of a process whole', async () => {
    const tenant = await app.paidTenant();
    await insertRecords(tenant, RECORDS);
    const { code, out, err } = await spawnAdmin(env(), 'tenants', 'export', tenant.id);
    // Without a terminal there is no progress.
    expect([code, err]).toEqual([0, '']);
    expect(parse(out).filter(({ table }) => table === 'usage_records')).toHaveLength(RECORDS);
  });

  async function insertRecords(tenant: { id: string }, count: number): Promise<void> {
    await db().query(
      `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier,
                                  capped, id, room, participant)
       select $1, 1, n, n, 0, 1, n % 5000, 'h', 'a', false, 'r-' || lpad(n::text, 8, '0'), 'lobby', 'p' || n % 50
         from generate_series(1, $2) n`,
      [idOf(tenant), count],
    );
  }
});

/** The health that the overview shows: what is judged how, what to do, and where the figures come from. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPool } from '../../../../src/base/db/pool.ts';
import { type Check, judge, type Measured } from '../../../../src/doors/ops/console/health.ts';
import { OPS_ROUTES } from '../../../../src/doors/ops/console/routes.ts';
import { getHealth } from '../../../../src/outward/health/get-health.ts';
import { getOpsPage, makeOperator } from '../../../support/operators.ts';
import { useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const DATABASE = {
  bytes: 5e9,
  connections: 20,
  connectionsMax: 97,
  waitingForLocks: 0,
  oldestSeconds: 1,
  standbys: 1,
  lagBytes: 0,
  lagSeconds: 0,
  processes: 4,
  isCoordinator: false,
};
const WELL: Measured = {
  lags: [{ listener: 'mail', events: 0, seconds: 0 }],
  webhooks: { paused: 3, newlyPaused: 0, waitingSeconds: 2 },
  hasProvider: true,
  drift: { differences: 0, ageSeconds: 1_800 },
  unknown: { attempts: 0, oldestSeconds: 0 },
  parked: { parked: 0, failing: 0 },
  servers: [{ id: 1, name: 'one:5432', awaySeconds: null }],
  metrics: 'boxoffice_charge_queue_records 1234\nboxoffice_pool_connections{state="waiting"} 3\n',
  mails: { waiting: 2, retried: 1, oldestSeconds: 60, failed: 0 },
  database: DATABASE,
  stale: undefined,
};

type Changes = Partial<Omit<Measured, 'database'>> & { database?: Partial<Measured['database']> };

function judged({ database, ...changes }: Changes): Check[] {
  return judge({ ...WELL, ...changes, database: { ...DATABASE, ...database } });
}

const NOT_WELL: readonly [string, Check['look'], Changes][] = [
  ['Listeners', 'warn', { lags: [{ listener: 'mail', events: 5, seconds: 60 }] }],
  ['Listeners', 'bad', { lags: [{ listener: 'mail', events: 5, seconds: 900 }] }],
  ['Webhooks', 'warn', { webhooks: { paused: 12, newlyPaused: 10, waitingSeconds: 0 } }],
  ['Webhooks', 'warn', { webhooks: { paused: 0, newlyPaused: 0, waitingSeconds: 300 } }],
  ['Webhooks', 'bad', { webhooks: { paused: 0, newlyPaused: 0, waitingSeconds: 1_800 } }],
  ['Payment provider', 'warn', { drift: { differences: 1, ageSeconds: 60 } }],
  ['Payment provider', 'warn', { drift: undefined }],
  ['Payment provider', 'bad', { drift: { differences: 0, ageSeconds: 7_501 } }],
  ['Charges of unknown outcome', 'warn', { unknown: { attempts: 1, oldestSeconds: 900 } }],
  ['Charges of unknown outcome', 'bad', { unknown: { attempts: 1, oldestSeconds: 43_200 } }],
  ['Parked payments', 'warn', { parked: { parked: 0, failing: 1 } }],
  ['Parked payments', 'bad', { parked: { parked: 1, failing: 0 } }],
  ['Charging and connections', 'warn', { metrics: 'boxoffice_pool_connections{state="waiting"} 10\n' }],
  ['Charging and connections', 'bad', { database: { waitingForLocks: 100 } }],
  ['Mails', 'warn', { mails: { waiting: 0, retried: 0, oldestSeconds: 0, failed: 1 } }],
  ['Mails', 'warn', { mails: { waiting: 1, retried: 1, oldestSeconds: 900, failed: 0 } }],
  ['Mails', 'bad', { mails: { waiting: 1, retried: 1, oldestSeconds: 7_200, failed: 0 } }],
  ['Database connections', 'warn', { database: { connections: 80 } }],
  ['Database connections', 'bad', { database: { connections: 95 } }],
  ['Oldest transaction', 'warn', { database: { oldestSeconds: 900 } }],
  ['Oldest transaction', 'bad', { database: { oldestSeconds: 10_800 } }],
  ['Database servers', 'bad', { servers: [{ id: 1, name: 'one:5432', awaySeconds: 5 }] }],
  ['Standby', 'warn', { database: { lagSeconds: 10 } }],
  ['Standby', 'warn', { database: { lagSeconds: null, lagBytes: null } }],
  ['Standby', 'bad', { database: { lagSeconds: 300 } }],
  ['Migrations', 'warn', { stale: { why: 'the database is of a newer version', isNewer: true } }],
  ['Migrations', 'bad', { stale: { why: 'the database is of another version', isNewer: false } }],
];

describe('a service that is well', () => {
  test('has nothing to do, and says what is of which processes', () => {
    const checks = judged({});
    expect(checks.filter(({ look, advice }) => look !== 'good' || advice)).toEqual([]);
    const figures = checks.map((each) => `${each.name}: ${each.figures}`).join('\n');
    expect(figures).toContain('1,234 usage records in charge queues and 3 requests');
    expect(figures).toContain('in the processes behind this port');
    expect(
      judged({ database: { isCoordinator: true } })
        .map((each) => each.figures)
        .join(),
    ).toContain('of the coordinator alone');
  });

  test('may have no standby, and no payment provider', () => {
    const checks = judged({
      hasProvider: false,
      servers: [],
      drift: undefined,
      database: { standbys: 0, lagBytes: null, lagSeconds: null },
    });
    expect(checks.filter(({ look }) => look !== 'good')).toEqual([]);
  });
});

describe('what is not well', () => {
  test.each(NOT_WELL)('%s: %s', (name, look, changes) => {
    const checks = judged(changes).filter((each) => each.look !== 'good');
    expect(checks.map((each) => [each.name, each.look])).toEqual([[name, look]]);
    expect(checks[0]!.advice).toBeDefined();
  });

  test('leads to a page that there is, or to a heading of the documents', () => {
    const advice = NOT_WELL.flatMap(([, , changes]) => judged(changes)).map(
      (each) => each.advice?.text ?? '',
    );
    const places = advice.flatMap((text) => [...text.matchAll(/docs\/([\w-]+\.md)#([\w-]+)/g)]);
    const pages = advice.flatMap((text) => [...text.matchAll(/href="([^"?]+)/g)].map(([, path]) => path));
    expect(places.length).toBeGreaterThan(10);
    for (const [, file = '', anchor] of places) {
      const path = join(import.meta.dirname, '../../../../docs', file);
      const headings = existsSync(path) ? [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)] : [];
      const anchors = headings.map(([, text]) =>
        text!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      expect(anchors, file).toContain(anchor);
    }
    const shown = OPS_ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path);
    for (const page of pages) expect(shown).toContain(page);
    for (const text of advice.filter((each) => each !== '')) expect(text).toMatch(/docs\/|href=/);
  });
});

describe('the database says', () => {
  const app = useService({ isRestricted: true });
  const db = () => app.service.deps.db;

  test('what fails, waits and is paused, and what does not count', async () => {
    const tenant = await app.paidTenant();
    const id = idOf(tenant);
    const body = { url: 'https://hooks.example/', types: [] };
    for (let made = 0; made < 4; made += 1)
      await app.request('POST', '/v1/webhooks', { key: tenant.key, body });
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'x', kind: 'relay' } });
    const lastSeq = async () =>
      (await db().query('select last_seq from event_streams where tenant_id = $1', [id])).rows[0]?.last_seq ??
      0n;
    await expect.poll(lastSeq).toBeGreaterThan(0n);
    await db().query(
      `with numbered as (select webhook_id, row_number() over (order by webhook_id) as n from webhook_cursors where tenant_id = $1)
       update webhook_cursors c
          set paused_by = case n when 1 then 'failing' when 2 then 'gone' when 3 then 'tenant' end,
              paused_at = case when n <= 3 then now() - n * interval '50 minutes' end,
              leased_until = now() + interval '1 hour', lease = 'test',
              seq = (select last_seq - 1 from event_streams where tenant_id = $1)
         from numbered where c.webhook_id = numbered.webhook_id and c.tenant_id = $1`,
      [id],
    );
    await db().query(
      `insert into mails (id, tenant_id, address, kind, event_type, event_at, subject, state, created_at, next_at, finished_at, error, event_seq)
       select 'mail_' || md5(n::text), $1, 'a' || n || '@example.com', 'alert', 'credit_spent', now(), '{}',
              case when n <= 2 then 'waiting' else 'failed' end, now() - interval '2 hours', now() + interval '1 hour',
              case when n > 2 then now() - case n when 4 then interval '25 hours' else interval '1 hour' end end,
              case when n = 1 then 'refused' end, 1
         from generate_series(1, 4) n`,
      [id],
    );
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount, state, customer_id, payment_method_id, first_sent_at, resent_at, next_at)
       values ($1, $2, 5, 'unknown', 'cus_1', 'pm_1', now() - interval '20 minutes', now(), now() + interval '1 hour')`,
      [`tu_${'b'.repeat(32)}`, id],
    );
    const { webhooks, mails, unknown, database, stale } = await getHealth(db());
    expect(webhooks).toMatchObject({ paused: 2, newlyPaused: 1 });
    expect(webhooks.waitingSeconds).toBeGreaterThan(0);
    expect(mails).toMatchObject({ waiting: 2, retried: 1, failed: 1 });
    expect(mails.oldestSeconds).toBeGreaterThan(7_000);
    expect([unknown.attempts, Math.round(unknown.oldestSeconds / 60)]).toEqual([1, 20]);
    expect(database.bytes).toBeGreaterThan(1e6);
    expect(database.connections).toBeGreaterThan(0);
    expect(database.connections).toBeLessThan(database.connectionsMax);
    expect(database).toMatchObject({ standbys: 0, lagBytes: null, lagSeconds: null });
    expect(database.processes).toBeGreaterThan(0);
    expect(stale).toBeUndefined();

    const { cookie } = await makeOperator(db());
    const { text } = await getOpsPage(app, '/console', cookie);
    expect(text).toContain('2 paused by failures, 1 of them within an hour');
    expect(text).toMatch(
      /Mails<\/th>.*?badge bad.*?2 wait, 1 after a failure, the oldest for 2 h; 1 failed within a day/s,
    );
    expect(text).toMatch(/unknown outcome<\/th>.*?badge warn.*?1, the oldest for 20 min/s);
    expect(text).toContain('<code>docs/mail.md#for-operators</code>');
    expect(text).toMatch(/\d+ usage records in charge queues/);
  });

  test('how many connections there are, also those of other roles', async () => {
    const owner = openPool(app.ownerUrl, { max: 1 });
    const held = await owner.connect();
    try {
      const countAll = async () => {
        const { rows } = await held.query(
          `select count(*)::integer as all from pg_stat_activity where datid is not null`,
        );
        return rows[0].all;
      };
      // Other test files open and close connections to the same server between two statements.
      const difference = async () => (await getHealth(db())).database.connections - (await countAll());
      await expect.poll(difference, { timeout: 60_000 }).toBe(0);
    } finally {
      held.release();
      await owner.end();
    }
  });

  test('how old the oldest transaction is, and who waits for a lock', async () => {
    const [holder, waiter] = [await db().connect(), await db().connect()];
    try {
      await holder.query('begin');
      await holder.query(`select pg_advisory_xact_lock(77), pg_sleep(1.1)`);
      const waiting = waiter.query('select pg_advisory_lock(77)');
      await expect.poll(async () => (await getHealth(db())).database.waitingForLocks).toBe(1);
      expect((await getHealth(db())).database.oldestSeconds).toBeGreaterThan(1);
      await holder.query('rollback');
      await waiting;
    } finally {
      holder.release();
      waiter.release(true);
    }
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { findFreePort } from '../../../src/run/free-port.ts';
import { moved } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { openScratch } from '../../support/scratch.ts';
import { SECRET_KEY, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { type Outcome, runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;

const verify = (...args: string[]) => verifyDatabase(db().options.connectionString!, ...args);

/** Steps that take two seconds are shown: on a cluster some do, and on a busy machine any may. */
function slowSteps(end = ''): unknown {
  return expect.stringMatching(new RegExp(`^(\\w+ing .+ \\.\\.\\.\\n)*${end}$`));
}

function verifyDatabase(url: string, ...args: string[]): Promise<Outcome> {
  const env = {
    DATABASE_URL: url,
    STRIPE_SECRET_KEY: 'sk_test_of_the_tests',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_nobody',
    STRIPE_API_BASE: app.sandbox.url,
  };
  return runAdmin(env, 'verify', ...args);
}

/** Manual changes of the tables, and the differences then reported for the tenant, which is $1. */
interface Damage {
  readonly sql: string | readonly string[];
  readonly differences: readonly { what: RegExp | string; expected?: string; found?: string }[];
}

const SUMS_OF_HOUR = /^sums of \d{4}-\d\d-\d\d \d\d:00 h a in all rooms$/;
const SUMS_OF_ROOM = /^sums of \d{4}-\d\d-\d\d \d\d:00 h a in room ''$/;
const SUMS_OF_DAY = /^sums of \d{4}-\d\d-\d\d in room ''$/;
const SUMS_OF_WEEK = /^sums of the week of \d{4}-\d\d-\d\d in room ''$/;
const BOTH_SUMS = [{ what: SUMS_OF_HOUR }, { what: SUMS_OF_ROOM }];

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a balance that was raised': {
    sql: 'update accounts set balance = balance + 1 where tenant_id = $1',
    differences: [
      { what: 'balance', expected: '19999760 after posting 3', found: '19999761 after posting 3' },
    ],
  },
  'an account that shows an older posting': {
    sql: 'update accounts set last_seq = 2 where tenant_id = $1',
    differences: [
      { what: 'balance', expected: '19999760 after posting 3', found: '19999760 after posting 2' },
    ],
  },
  'a posting that does not follow from the one before': {
    sql: 'update postings set balance = balance + 5, balance_before = balance_before + 5 where tenant_id = $1 and seq = 2',
    differences: [{ what: 'posting 2' }],
  },
  'a posting that was deleted': {
    sql: 'delete from postings where tenant_id = $1 and seq = 2',
    differences: [{ what: 'balance' }, { what: 'posting 3' }, { what: 'records of posting 2' }, ...BOTH_SUMS],
  },
  'time that goes back': {
    sql: `update postings set at = ${moved('at', '-7 days')} where tenant_id = $1 and seq = 3`,
    // Its records now belong to an hour of the week before.
    differences: [{ what: 'posting 3' }, ...BOTH_SUMS.flatMap((each) => [each, each])],
  },
  'a record that costs another amount': {
    sql: 'update usage_records set amount = amount + 1 where tenant_id = $1 and posting_seq = 2 and line = 1',
    differences: [
      { what: 'records of posting 2', expected: '3 records, 121 micros', found: '3 records, 120 micros' },
      ...BOTH_SUMS,
      { what: /^record record-\d+ of posting 2$/, expected: '40', found: '41' },
    ],
  },
  'two records that cost what the other should': {
    sql: `update usage_records set amount = amount + case when line = 0 then 1 else -1 end
           where tenant_id = $1 and posting_seq = 3 and line < 2`,
    differences: [{ what: /^record record-\d+ of posting 3$/, expected: '40', found: '41' }],
  },
  'a record that was deleted': {
    sql: 'delete from usage_records where tenant_id = $1 and posting_seq = 2 and line = 2',
    differences: [
      { what: 'records of posting 2', expected: '2 records, 80 micros', found: '3 records, 120 micros' },
      ...BOTH_SUMS,
      { what: 'newest ids of posting 2' },
    ],
  },
  'a record of no posting': {
    sql: `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role,
                                     tier, capped, id) values ($1, 9, 0, 0, 0, 0, 0, 'h', 'a', false, 'slipped in')`,
    differences: [
      { what: 'records of posting 9', expected: '1 records, 0 micros', found: '0 records, 0 micros' },
    ],
  },
  'a record that was measured otherwise': {
    sql: 'update usage_records set seconds = 5 where tenant_id = $1 and posting_seq = 2 and line = 0',
    differences: [...BOTH_SUMS, { what: /^record record-\d+ of posting 2$/, expected: '50', found: '40' }],
  },
  'a record that hides its ceiling': {
    sql: 'update usage_records set capped = not capped where tenant_id = $1 and posting_seq = 2 and line = 0',
    differences: [{ what: /^capped of record record-\d+ of posting 2$/, expected: 'true', found: 'false' }],
  },
  'a posting priced by a rate card that is not there': {
    sql: 'update postings set rate_version = 9 where tenant_id = $1 and seq = 2',
    differences: [{ what: 'rate card of posting 2', expected: 'version 9', found: 'none' }],
  },
  'a posting charged by a pricing rule that is not there': {
    sql: 'update postings set rule_version = 9 where tenant_id = $1 and seq = 2',
    differences: [{ what: 'pricing rule of posting 2', expected: 'version 9', found: 'none' }],
  },
  'a posting that names no rounding': {
    sql: `update postings set rounding = 'x' where tenant_id = $1 and seq = 2`,
    differences: [{ what: 'rounding of posting 2', expected: 'c, r or u', found: 'x' }],
  },
  'a posting that left another carry': {
    sql: 'update postings set carry = carry + 1 where tenant_id = $1 and seq = 2',
    differences: [{ what: 'carry of posting 2' }, { what: 'carry of posting 3' }],
  },
  'an account with another carry': {
    sql: 'update accounts set carry = carry - 1 where tenant_id = $1',
    differences: [{ what: 'carry', expected: '1006632960000', found: '1006632959999' }],
  },
  'a posting that names other records as its newest': {
    sql: `update postings set newest_ids = '{another}' where tenant_id = $1 and seq = 3`,
    differences: [{ what: 'newest ids of posting 3', found: 'another' }],
  },
  'a sum of an hour that was changed': {
    sql: 'update usage_hours set amount = amount + 1 where tenant_id = $1',
    differences: [
      {
        what: SUMS_OF_HOUR,
        expected: '6, 24, 12884901888, 6000000, 240, 0',
        found: '6, 24, 12884901888, 6000000, 241, 0',
      },
    ],
  },
  'a sum of a room that was deleted': {
    sql: 'delete from usage_room_hours where tenant_id = $1',
    differences: [{ what: SUMS_OF_ROOM, found: 'none' }],
  },
  'a day and a week that were rolled up without their hours': {
    sql: `insert into usage_rollups (tenant_id, until)
          values ($1, date_trunc('week', now(), 'UTC') + interval '7 days')`,
    differences: [
      { what: SUMS_OF_DAY, expected: '6, 24, 12884901888, 6000000, 240, 0', found: 'none' },
      { what: SUMS_OF_WEEK, expected: '6, 24, 12884901888, 6000000, 240, 0', found: 'none' },
    ],
  },
  'details of a day, a week and a month that were rolled up without their hours': {
    sql: `insert into usage_rollups (tenant_id, details_until)
          values ($1, date_trunc('month', now(), 'UTC') + interval '62 days')`,
    differences: ['day', 'week', 'month'].map((part) => ({
      what: new RegExp(`^sums of the ${part} of \\d{4}-\\d{2}-\\d{2} \\w \\w in room '\\w*'$`),
      expected: '6, 24, 12884901888, 6000000, 240, 0',
      found: 'none',
    })),
  },
  'sums of a day and a week that are not over': {
    sql: `with day as (
            insert into usage_room_days (tenant_id, day, room, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
            values ($1, date_trunc('day', now(), 'UTC'), '', 1, 2, 3, 4, 5, 0))
          insert into usage_room_weeks (tenant_id, week, room, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
          values ($1, date_trunc('week', now(), 'UTC'), '', 1, 2, 3, 4, 5, 0)`,
    differences: [
      { what: SUMS_OF_DAY, expected: 'none', found: '1, 2, 3, 4, 5, 0' },
      { what: SUMS_OF_WEEK, expected: 'none', found: '1, 2, 3, 4, 5, 0' },
    ],
  },
  'a grant without its posting': {
    sql: `insert into grants (tenant_id, seq, id, amount, reason, granted_at) values ($1, 2, 'gr_' || repeat('0', 32), 7, 'x', now())`,
    differences: [{ what: `grant gr_${'0'.repeat(32)}`, expected: '7', found: '0' }],
  },
  'a payment of another amount': {
    sql: 'update payments set credited = credited + 10000 where tenant_id = $1',
    differences: [
      { what: /^payment pi_\w+$/, expected: '20010000', found: '20000000' },
      {
        what: /^payment pi_\w+ at the provider$/,
        expected: '$20.000000 for $TENANT',
        found: '$20.010000 for $TENANT',
      },
    ],
  },
  'a payment that was deleted': {
    sql: 'delete from payments where tenant_id = $1',
    differences: [
      { what: /^payment pi_\w+$/, expected: '0', found: '20000000' },
      { what: /^payment pi_\w+ at the provider$/, expected: '$20.000000 for $TENANT', found: 'not credited' },
    ],
  },
  'a payment that the provider does not know': {
    sql: [
      `insert into payments (id, tenant_id, kind, credited, checkout_id)
       values ('pi_invented', $1, 'top_up', 5, 'co_invented')`,
      `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, payment_id)
       values ($1, 4, 'top_up', 0, 5, 5, 'pi_invented')`,
    ],
    differences: [
      { what: 'balance' },
      { what: 'posting 4' },
      {
        what: 'payment pi_invented at the provider',
        expected: 'no such payment',
        found: '$0.000005 for $TENANT',
      },
    ],
  },
  'a refund that was forgotten': {
    sql: `insert into refunds (id, payment_id, amount, status)
          select 're_' || id, id, 70000, 'succeeded' from payments where tenant_id = $1`,
    differences: [
      { what: /^reversals of payment pi_\w+$/, expected: '70000', found: '0' },
      {
        what: /^refund re_pi_\w+ at the provider$/,
        expected: 'no such refund',
      },
    ],
  },
  'a status without a history': {
    sql: `update tenants set status = 'archived' where id = $1`,
    differences: [{ what: 'status', expected: 'active', found: 'archived' }],
  },
  'a history that was changed': {
    sql: `update tenant_status_changes set old_status = 'suspended' where tenant_id = $1`,
    differences: [{ what: /^status before /, expected: 'pending', found: 'suspended' }],
  },
};

/** Capped, and so exactly 40 micros: four seconds at $0.60 per 1000 minutes. */
const record = () => usageRecord({ role: 'host', tier: 'audio', seconds: 4, egress_bytes: 2 ** 31 });

async function chargeTwice(tenant: TestTenant): Promise<void> {
  for (const records of [
    [record(), record(), record()],
    [record(), record(), record()],
  ]) {
    const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    expect(answer.json).toMatchObject({ charged: 3, total: { micros: 120 } });
  }
}

/** Usage of odd amounts, rounded in both ways, and some while exempt. */
async function chargeOddly(tenant: TestTenant): Promise<void> {
  const { deps } = app.service;
  const id = parseTenantId(tenant.id)!;
  const roundings = ['carry', 'per_record', 'carry', 'per_record'] as const;
  let seconds = 0;
  const odd = () => ({
    id: `odd-${++seconds}`,
    room: undefined,
    participant: undefined,
    role: 'audience' as const,
    tier: 'hd' as const,
    seconds,
    egressBytes: 12_345n * BigInt(seconds),
    ingressBytes: 0n,
  });
  for (const billingRounding of roundings) {
    const changed = { ...deps, config: { ...deps.config, billingRounding } };
    await chargeTenant(changed, id, [
      { tenant: id, records: UsageRecords.from(Array.from({ length: 60 }, odd)) },
    ]);
    await db().query('update tenants set exempt = not exempt where id = $1', [id]);
    await chargeTenant(changed, id, [{ tenant: id, records: UsageRecords.from([odd(), odd()]) }]);
    await db().query('update tenants set exempt = not exempt where id = $1', [id]);
  }
}

/** As a superuser could: without constraints and append-only triggers. */
async function takeAwayAllGuards(): Promise<void> {
  const { rows } = await db().query<{ change: string }>(
    `select format('alter table %I %s', relname, string_agg(format('drop constraint %I', conname), ', ')) as change
       from pg_constraint join pg_class c on c.oid = conrelid
      where connamespace = 'public'::regnamespace and contype in ('f', 'c')
      group by relname, contype order by contype desc`,
  );
  for (const { change } of rows) await db().query(change);
  if (isDistributed()) return;
  for (const table of ['postings', 'usage_records'])
    await db().query(`alter table ${table} disable trigger all`);
}

describe('verify of a new database', () => {
  const database = useDatabase();

  it('counts nothing', async () => {
    expect(await verifyDatabase(database.url)).toMatchObject({
      code: 0,
      out: 'ok: 0 tenants, 0 postings, 0 records\n',
      err: slowSteps(),
    });
  });
});

describe('verify', () => {
  const tenants = new Map<string, TestTenant>();
  let found: Outcome;

  beforeAll(async () => {
    for (const name of Object.keys(DAMAGES)) {
      const tenant = await app.paidTenant();
      await chargeTwice(tenant);
      tenants.set(name, tenant);
    }
    await chargeOddly(await app.paidTenant());
    await app.signUp();
  });

  it('finds a ledger in order', async () => {
    const count = tenants.size + 2;
    const records = tenants.size * 6 + 4 * 62;
    const postings = tenants.size * 3 + 1 + 4 * 2;
    expect(await verify('--payments')).toMatchObject({
      code: 0,
      out: `ok: ${count} tenants, ${postings} postings, ${records} records\n`,
      err: slowSteps(),
    });
  });

  describe('with the sandbox', () => {
    const scratch = openScratch('boxoffice-verify-');
    afterAll(() => scratch.remove());
    const verifySandbox = (port: number, dataDir = scratch.folder) =>
      runAdmin(
        { DATABASE_URL: db().options.connectionString!, DATA_DIR: dataDir, SANDBOX_PORT: String(port) },
        'verify',
        '--payments',
      );

    beforeAll(() => {
      mkdirSync(join(scratch.folder, 'sandbox'));
      const secrets = JSON.stringify({ secretKey: SECRET_KEY, webhookSecret: 'whsec_of_nobody' });
      writeFileSync(join(scratch.folder, 'sandbox', 'secrets.json'), secrets);
    });

    it('asks that of the service', async () => {
      expect(await verifySandbox(app.sandbox.port)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^ok: /),
        err: slowSteps(),
      });
    });

    it('needs the folder of a service', async () => {
      expect(await verifySandbox(app.sandbox.port, join(scratch.folder, 'other'))).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(/^error: the payment provider is unknown/),
      });
    });

    it('says in one line that the service does not run', async () => {
      expect(await verifySandbox(await findFreePort('127.0.0.1'))).toMatchObject({
        code: 1,
        out: '',
        err: slowSteps('the payment provider cannot be reached: connect ECONNREFUSED .+\\n'),
      });
    });
  });

  describe('after the tables were changed by hand', () => {
    beforeAll(async () => {
      await foldUsage({ db: db() });
      await takeAwayAllGuards();
      for (const [name, { sql }] of Object.entries(DAMAGES)) {
        for (const change of [sql].flat()) await db().query(change, [parseTenantId(tenants.get(name)!.id)]);
      }
      found = await verify('--payments', '--json');
    });

    it('ends with exit code 1', () => {
      expect(found).toMatchObject({ code: 1, err: slowSteps(), json: { ok: false, more: false } });
    });

    it.each(Object.entries(DAMAGES))('finds %s', (name, { differences }) => {
      const { id } = tenants.get(name)!;
      const ofTenant = found.json.differences.filter((each: { tenant: string }) => each.tenant === id);
      expect(ofTenant).toEqual(
        differences.map(({ what, expected, found: shown }) => ({
          tenant: id,
          what: typeof what === 'string' ? what : expect.stringMatching(what),
          expected: expected?.replace('$TENANT', id) ?? expect.any(String),
          found: shown?.replace('$TENANT', id) ?? expect.any(String),
        })),
      );
    });

    it('finds nothing else', () => {
      const damaged = new Set([...tenants.values()].map((tenant) => tenant.id));
      expect(found.json.differences.filter((each: { tenant: string }) => !damaged.has(each.tenant))).toEqual(
        [],
      );
    });

    it('shows the differences as a table', async () => {
      const shown = await verify();
      expect(shown.code).toBe(1);
      expect(shown.out).toMatch(/^TENANT +WHAT +EXPECTED +FOUND\n/);
      const { id } = tenants.get('a balance that was raised')!;
      expect(shown.out).toMatch(
        new RegExp(`^${id} +balance +19999760 after posting 3 +19999761 after posting 3$`, 'm'),
      );
      expect(shown.out).not.toContain('at the provider');
    });
  });
});

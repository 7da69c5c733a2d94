import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { updateStatus } from '../../../src/base/tenants/tenants.sql.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type Answer, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

type Fields = Record<string, unknown>;

const app = useService();
const db = () => app.service.deps.db;

function report(tenant: TestTenant, records: Fields[]): Promise<Answer> {
  return app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
}

/** Report and expect success. */
async function charge(tenant: TestTenant, records: Fields[]) {
  const answer = await report(tenant, records);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json.charged + answer.json.duplicates + answer.json.unbilled).toBe(records.length);
  return answer.json as {
    charged: number;
    duplicates: number;
    unbilled: number;
    total: { micros: number; display: string };
    admitted: boolean;
  };
}

async function billing(tenant: TestTenant) {
  const answer = await app.request('GET', '/v1/billing', { key: tenant.key });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

async function balanceOf(tenant: TestTenant): Promise<number> {
  const { rows } = await db().query('select balance from accounts where tenant_id = $1', [idOf(tenant)]);
  return Number(rows[0].balance);
}

async function count(table: string, tenant: TestTenant): Promise<number> {
  const { rows } = await db().query(`select count(*) from ${table} where tenant_id = $1`, [idOf(tenant)]);
  return Number(rows[0].count);
}

async function conflictsOf(tenant: TestTenant) {
  const { rows } = await db().query(
    'select id, times, reported from usage_conflicts where tenant_id = $1 order by id',
    [idOf(tenant)],
  );
  return rows as { id: string; times: number; reported: Fields }[];
}

function records(n: number, fields: (index: number) => Fields = () => ({})): Fields[] {
  return Array.from({ length: n }, (_, index) => usageRecord(fields(index)));
}

// Nothing in the ledger is ever changed, so one check at the end sees every mistake.
afterAll(async () => {
  expect(await checkLedger(db())).toEqual([]);
});

describe('a batch', () => {
  it('is charged as a whole, and answered with its cost', async () => {
    const tenant = await app.paidTenant({ cents: 2000 });
    const outcome = await charge(tenant, [
      usageRecord({ egress_bytes: 2 ** 30, seconds: 3600 }),
      usageRecord({ egress_bytes: 2 ** 40, seconds: 60 }),
      usageRecord({ egress_bytes: 0, seconds: 0 }),
    ]);
    expect(outcome).toEqual({
      charged: 3,
      duplicates: 0,
      unbilled: 0,
      total: { micros: 21_500, display: '$0.021500' },
      admitted: true,
    });
    expect(await balanceOf(tenant)).toBe(20_000_000 - 21_500);
  });

  it('without records only says whether new sessions are admitted', async () => {
    const tenant = await app.paidTenant();
    const outcome = await charge(tenant, []);
    expect(outcome).toMatchObject({
      charged: 0,
      duplicates: 0,
      unbilled: 0,
      total: { micros: 0 },
      admitted: true,
    });
    expect(await count('postings', tenant)).toBe(1);
  });

  it('that is sent again contains only duplicates and costs nothing', async () => {
    const tenant = await app.paidTenant();
    const batch = records(20);
    const first = await charge(tenant, batch);
    const balance = await balanceOf(tenant);
    for (let time = 0; time < 3; time += 1) {
      expect(await charge(tenant, batch)).toMatchObject({ charged: 0, duplicates: 20, total: { micros: 0 } });
    }
    expect(await balanceOf(tenant)).toBe(balance);
    expect(balance).toBe(20_000_000 - first.total.micros);
    expect(await conflictsOf(tenant)).toEqual([]);
  });

  it('charges an id that it repeats once, by its first record', async () => {
    const tenant = await app.paidTenant();
    const first = usageRecord({ egress_bytes: 2 ** 30, seconds: 3600 });
    const outcome = await charge(tenant, [first, first, { ...first, egress_bytes: 0 }, first]);
    expect(outcome).toMatchObject({ charged: 1, duplicates: 3, total: { micros: 20_000 } });
    expect(await conflictsOf(tenant)).toMatchObject([
      { id: first.id, times: 1, reported: { egress_bytes: 0 } },
    ]);
  });

  it('charges only new records, wherever the known ones are', async () => {
    const tenant = await app.paidTenant();
    const old = records(10);
    await charge(tenant, old);
    const mixed = [usageRecord(), old[3]!, usageRecord(), old[9]!, old[0]!, usageRecord()];
    expect(await charge(tenant, mixed)).toMatchObject({ charged: 3, duplicates: 3 });
    // Known ids that the probe of the first, middle and last id does not find.
    const hidden = [usageRecord(), old[5]!, usageRecord(), usageRecord(), usageRecord(), usageRecord()];
    expect(await charge(tenant, hidden)).toMatchObject({ charged: 5, duplicates: 1 });
    expect(await count('usage_records', tenant)).toBe(18);
  });

  it('of one tenant is independent of the ids of another', async () => {
    const [one, other] = [await app.paidTenant(), await app.paidTenant()];
    const batch = records(5);
    expect(await charge(one, batch)).toMatchObject({ charged: 5 });
    expect(await charge(other, batch)).toMatchObject({ charged: 5, duplicates: 0 });
  });

  it('may hold 5000 records', async () => {
    const tenant = await app.paidTenant();
    const batch = Array.from({ length: 5000 }, (_, index) => ({
      id: `bulk-${index}`,
      role: 'audience',
      tier: 'audio',
      seconds: 10,
      egress_bytes: 80_000 + index,
      ingress_bytes: 0,
    }));
    expect(await charge(tenant, batch)).toMatchObject({ charged: 5000, duplicates: 0 });
    expect(await charge(tenant, [...batch].reverse())).toMatchObject({ charged: 0, duplicates: 5000 });
    const half = batch.map((record, index) =>
      index % 2 === 0 ? record : { ...record, id: `bulk-x-${index}` },
    );
    expect(await charge(tenant, half)).toMatchObject({ charged: 2500, duplicates: 2500 });
  });

  it('takes the largest legal values', async () => {
    const tenant = await app.paidTenant();
    const largest = usageRecord({
      id: 'x'.repeat(200),
      tier: '2k_plus',
      seconds: 86_400,
      egress_bytes: Number.MAX_SAFE_INTEGER,
      ingress_bytes: Number.MAX_SAFE_INTEGER,
    });
    expect(await charge(tenant, [largest])).toMatchObject({ charged: 1, total: { micros: 17_280_000 } });
    expect(await charge(tenant, [largest])).toMatchObject({ duplicates: 1 });
    expect(await conflictsOf(tenant)).toEqual([]);
  });

  it('stores any text unchanged', async () => {
    const tenant = await app.paidTenant();
    const odd = [
      'a\tb',
      'a\nb',
      'a\rb',
      'a\\b',
      '\\N',
      '\\.',
      'a\\tb',
      '"quoted", {braces}',
      "o'neil",
      'Ünïcödé 🎥',
      ' ',
      '\u0001\u0008\u000b',
    ];
    const batch = odd.map((text) => usageRecord({ id: text, room: text, participant: text }));
    expect(await charge(tenant, batch)).toMatchObject({ charged: odd.length });
    expect(await charge(tenant, batch)).toMatchObject({ duplicates: odd.length });
    expect(await conflictsOf(tenant)).toEqual([]);
    const { recent } = await billing(tenant);
    const shown = recent.filter((entry: Fields) => entry.kind === 'usage');
    expect(shown.map((entry: Fields) => entry.reference)).toEqual([...odd].reverse());
    expect(shown.map((entry: Fields) => entry.detail)).toEqual([...odd].reverse());
  });

  it.each<[string, Fields]>([
    ['an empty id', { id: '' }],
    ['an id that is too long', { id: 'x'.repeat(201) }],
    ['an unknown role', { role: 'guest' }],
    ['an unknown tier', { tier: '4k' }],
    ['negative seconds', { seconds: -1 }],
    ['more than a day', { seconds: 86_401 }],
    ['negative egress', { egress_bytes: -1 }],
    ['negative ingress', { ingress_bytes: -1 }],
    ['half a byte', { egress_bytes: 0.5 }],
    ['an unsafe integer', { egress_bytes: 2 ** 53 }],
    ["another tenant's id", { tenant: 't_0000000000000000' }],
  ])('with %s is refused as a whole', async (_, fields) => {
    const tenant = await app.paidTenant();
    const good = records(3);
    const answer = await report(tenant, [...good, usageRecord(fields)]);
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(/^invalid request: /);
    expect(await count('usage_records', tenant)).toBe(0);
    expect(await balanceOf(tenant)).toBe(20_000_000);
    expect(await charge(tenant, good)).toMatchObject({ charged: 3 });
  });

  it('of 5001 records is refused as a whole', async () => {
    const tenant = await app.paidTenant();
    const batch = Array.from({ length: 5001 }, (_, index) => ({
      id: `${index}`,
      role: 'host',
      tier: 'hd',
      seconds: 1,
      egress_bytes: 1,
      ingress_bytes: 1,
    }));
    const answer = await report(tenant, batch);
    expect(answer.status).toBe(400);
    expect(await count('usage_records', tenant)).toBe(0);
  });
});

describe('an id that is repeated with different values', () => {
  it.each<[string, Fields]>([
    ['seconds', { seconds: 59 }],
    ['egress_bytes', { egress_bytes: 50_000_001 }],
    ['ingress_bytes', { ingress_bytes: 0 }],
    ['role', { role: 'audience' }],
    ['tier', { tier: 'full_hd' }],
    ['room', { room: 'elsewhere' }],
    ['participant', { participant: 'somebody' }],
  ])('is a duplicate and is kept as a conflict: %s', async (_, fields) => {
    const tenant = await app.paidTenant();
    const first = usageRecord();
    await charge(tenant, [first]);
    const balance = await balanceOf(tenant);
    expect(await charge(tenant, [{ ...first, ...fields }])).toMatchObject({
      charged: 0,
      duplicates: 1,
      total: { micros: 0 },
    });
    expect(await balanceOf(tenant)).toBe(balance);
    expect(await conflictsOf(tenant)).toMatchObject([{ id: first.id, times: 1, reported: fields }]);
  });

  it('is counted each time, with the newest values', async () => {
    const tenant = await app.paidTenant();
    const first = usageRecord();
    await charge(tenant, [first, { ...first, seconds: 1 }, { ...first, seconds: 2 }]);
    await charge(tenant, [{ ...first, seconds: 3 }, first]);
    await charge(tenant, [first]);
    expect(await conflictsOf(tenant)).toMatchObject([{ id: first.id, times: 3, reported: { seconds: 3 } }]);
  });

  it('is compared with the charged record, not with its neighbour in the batch', async () => {
    const tenant = await app.paidTenant();
    const first = usageRecord();
    await charge(tenant, [first]);
    const other = { ...first, seconds: 7 };
    await charge(tenant, [other, first, other]);
    expect(await conflictsOf(tenant)).toMatchObject([{ id: first.id, times: 2, reported: { seconds: 7 } }]);
  });
});

describe('an exempt tenant', () => {
  it('is priced but not charged, and admitted without credit', async () => {
    const tenant = await app.paidTenant();
    await charge(tenant, [usageRecord({ egress_bytes: 26_844, seconds: 3600 })]);
    const before = await balanceOf(tenant);
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    const batch = records(3, () => ({ egress_bytes: 2 ** 30, seconds: 3600 }));
    expect(await charge(tenant, batch)).toEqual({
      charged: 0,
      duplicates: 0,
      unbilled: 3,
      total: { micros: 0, display: '$0.000000' },
      admitted: true,
    });
    expect(await balanceOf(tenant)).toBe(before);
    const { rows } = await db().query(
      `select sum(r.amount) from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
        where p.kind = 'unbilled' and r.tenant_id = $1`,
      [idOf(tenant)],
    );
    expect(Number(rows[0].sum)).toBe(60_000);
    expect((await billing(tenant)).recent.map((entry: Fields) => entry.kind)).toEqual(['usage', 'top_up']);
  });

  it('is never billed for past usage after the exemption ends', async () => {
    const tenant = await app.paidTenant();
    const charged = records(2);
    const { total } = await charge(tenant, charged);
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    const exempt = records(4);
    expect(await charge(tenant, [...exempt, ...charged])).toMatchObject({
      charged: 0,
      duplicates: 2,
      unbilled: 4,
    });
    await setExempt(db(), OPERATOR, idOf(tenant), false);
    expect(await charge(tenant, [...charged, ...exempt])).toMatchObject({
      charged: 0,
      duplicates: 6,
      unbilled: 0,
    });
    expect(await balanceOf(tenant)).toBe(20_000_000 - total.micros);
    expect(await charge(tenant, [usageRecord()])).toMatchObject({ charged: 1 });
  });

  it('that never paid is admitted only once it is active', async () => {
    const tenant = await app.signUp();
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    expect(await charge(tenant, records(1))).toMatchObject({ unbilled: 1, admitted: false });
  });
});

describe('admitted', () => {
  it('is false for a tenant that never paid, whose usage is still charged', async () => {
    const tenant = await app.signUp();
    expect(await charge(tenant, records(2))).toMatchObject({ charged: 2, admitted: false });
    expect(await balanceOf(tenant)).toBeLessThan(0);
  });

  it('is false at a balance of zero or less, and true again after a payment', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    const dear = { tier: '2k_plus', seconds: 50_000, egress_bytes: 2 ** 50 };
    expect(await charge(tenant, [usageRecord(dear)])).toMatchObject({
      total: { micros: 10_000_000 },
      admitted: false,
    });
    expect(await balanceOf(tenant)).toBe(0);
    expect(await charge(tenant, [usageRecord(dear)])).toMatchObject({ charged: 1, admitted: false });
    const shown = await billing(tenant);
    expect(shown).toMatchObject({
      balance: { micros: -10_000_000, display: '-$10.000000' },
      admitted: false,
    });
    await app.pay(tenant, { cents: 2000 });
    expect(await charge(tenant, [])).toMatchObject({ admitted: true });
  });

  it.each(['suspended', 'archived', 'deleted'])(
    'is false for a %s tenant, whose usage is charged',
    async (status) => {
      const tenant = await app.paidTenant();
      await inTransaction(db(), (tx) =>
        updateStatus(tx, { id: idOf(tenant), status: 'active' }, status as TenantStatus, 'test'),
      );
      const before = await balanceOf(tenant);
      const outcome = await charge(tenant, records(3));
      expect(outcome).toMatchObject({ charged: 3, admitted: false });
      expect(await balanceOf(tenant)).toBe(before - outcome.total.micros);
    },
  );

  it('matches the balance in the answer, even if another change came first', async () => {
    const tenant = await app.signUp();
    const other = await db().connect();
    try {
      await other.query('begin');
      await other.query('select 1 from accounts where tenant_id = $1 for no key update', [idOf(tenant)]);
      const waiting = report(tenant, []);
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      await other.query(
        `insert into postings (tenant_id, seq, kind, balance_before, amount, balance)
         values ($1, 1, 'adjustment', 0, 5, 5)`,
        [idOf(tenant)],
      );
      await other.query('update accounts set last_seq = 1, balance = 5 where tenant_id = $1', [idOf(tenant)]);
      await other.query(`update tenants set status = 'active' where id = $1`, [idOf(tenant)]);
      await other.query(
        `insert into tenant_status_changes (tenant_id, old_status, new_status, reason)
         values ($1, 'pending', 'active', 'test')`,
        [idOf(tenant)],
      );
      await other.query('commit');
      expect((await waiting).json).toMatchObject({ admitted: true });
    } finally {
      other.release();
    }
  });
});

describe('recent', () => {
  it('lists at most 50 entries, newest first, over many small batches', async () => {
    const tenant = await app.paidTenant();
    const ids: string[] = [];
    for (let batch = 0; batch < 20; batch += 1) {
      const small = records(3, (index) => ({ room: `room-${batch}`, participant: `p-${batch}-${index}` }));
      ids.push(...small.map((record) => String(record.participant)));
      await charge(tenant, small);
    }
    const { recent } = await billing(tenant);
    expect(recent).toHaveLength(50);
    expect(recent.map((entry: Fields) => entry.detail)).toEqual(ids.reverse().slice(0, 50));
    expect(recent[0]).toMatchObject({ kind: 'usage', reference: 'room-19', capped: false });
  });

  it('lists the newest 50 of one large batch, and nothing older', async () => {
    const tenant = await app.paidTenant();
    await charge(
      tenant,
      records(120, (index) => ({ participant: `p-${index}` })),
    );
    const { recent } = await billing(tenant);
    expect(recent.map((entry: Fields) => entry.detail)).toEqual(
      Array.from({ length: 50 }, (_, index) => `p-${119 - index}`),
    );
  });

  it('lists all kinds in order', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    await charge(tenant, [usageRecord({ room: 'one' }), usageRecord()]);
    const { payment } = await app.pay(tenant, { cents: 3000 });
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    await charge(tenant, records(60));
    await setExempt(db(), OPERATOR, idOf(tenant), false);
    await charge(
      tenant,
      records(45, (index) => ({ room: `r${index}` })),
    );
    const { recent, balance } = await billing(tenant);
    expect(recent).toHaveLength(49);
    expect(recent.slice(0, 45).map((entry: Fields) => entry.reference)).toEqual(
      Array.from({ length: 45 }, (_, index) => `r${44 - index}`),
    );
    expect(recent[45]).toMatchObject({ kind: 'top_up', reference: payment, amount: { micros: 30_000_000 } });
    expect(recent[46]).toMatchObject({ kind: 'usage', reference: '' });
    expect(recent[46]).not.toHaveProperty('detail');
    expect(recent[47]).toMatchObject({ kind: 'usage', reference: 'one' });
    expect(recent[48]).toMatchObject({ kind: 'top_up', amount: { micros: 10_000_000 } });
    const sum = recent.reduce(
      (total: number, entry: { amount: { micros: number } }) => total + entry.amount.micros,
      0,
    );
    expect(sum).toBe(balance.micros);
    const times = recent.map((entry: Fields) => String(entry.at));
    expect([...times].sort().reverse()).toEqual(times);
  });

  it('shows amounts that add up to the total, including a charge of zero', async () => {
    const tenant = await app.paidTenant();
    const tiny = records(30, () => ({ role: 'audience', tier: 'audio', seconds: 10, egress_bytes: 20_000 }));
    const { total } = await charge(tenant, tiny);
    const { recent } = await billing(tenant);
    const usage = recent.filter((entry: Fields) => entry.kind === 'usage');
    const micros: number[] = usage.map((entry: { amount: { micros: number } }) => entry.amount.micros);
    expect(usage).toHaveLength(30);
    const nothing = usage.filter(({ amount }: { amount: { micros: number } }) => amount.micros === 0);
    expect(nothing).not.toHaveLength(0);
    for (const { amount } of nothing) expect(amount).toStrictEqual({ micros: 0, display: '$0.000000' });
    expect(micros.every((amount) => amount <= 0)).toBe(true);
    expect(-micros.reduce((sum, amount) => sum + amount, 0)).toBe(total.micros);
  });
});

describe('concurrent charging', () => {
  it('charges each id of twenty equal batches once', async () => {
    const tenant = await app.paidTenant();
    const batch = records(100);
    const answers = await Promise.all(Array.from({ length: 20 }, () => charge(tenant, batch)));
    expect(answers.filter((answer) => answer.charged === 100)).toHaveLength(1);
    expect(answers.filter((answer) => answer.duplicates === 100)).toHaveLength(19);
    const total = answers.reduce((sum, answer) => sum + answer.total.micros, 0);
    expect(await balanceOf(tenant)).toBe(20_000_000 - total);
  });

  it('charges each id once if eight relays send them in opposite orders', async () => {
    const tenant = await app.paidTenant();
    const all = records(400);
    const batches = Array.from({ length: 8 }, (_, relay) => {
      const shifted = [...all.slice(relay * 50), ...all.slice(0, relay * 50)];
      return relay % 2 === 0 ? shifted : shifted.reverse();
    });
    const parts = batches.flatMap((batch) => [batch.slice(0, 150), batch.slice(100, 300), batch.slice(250)]);
    const answers = await Promise.all(parts.map((part) => charge(tenant, part)));
    expect(answers.reduce((sum, answer) => sum + answer.charged, 0)).toBe(400);
    expect(await count('usage_records', tenant)).toBe(400);
    const total = answers.reduce((sum, answer) => sum + answer.total.micros, 0);
    expect(await balanceOf(tenant)).toBe(20_000_000 - total);
  });

  it('gives the same result as one after the other, for batches split, repeated and shuffled', async () => {
    const batches = fc.array(fc.array(fc.nat(40), { maxLength: 25 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(batches, async (places) => {
        const tenant = await app.paidTenant();
        const pool = records(41, (index) => ({
          egress_bytes: 10_000 * index + 7_919,
          seconds: index % 13,
          tier: 'audio',
        }));
        const answers = await Promise.all(
          places.map((batch) =>
            charge(
              tenant,
              batch.map((place) => pool[place]!),
            ),
          ),
        );
        const distinct = new Set(places.flat());
        expect(answers.reduce((sum, answer) => sum + answer.charged, 0)).toBe(distinct.size);
        const concurrent = answers.reduce((sum, answer) => sum + answer.total.micros, 0);
        expect(await balanceOf(tenant)).toBe(20_000_000 - concurrent);

        const alone = await app.paidTenant();
        const { total } = await charge(
          alone,
          [...distinct].map((place) => pool[place]!),
        );
        expect(concurrent).toBe(total.micros);
        expect(await conflictsOf(tenant)).toEqual([]);
      }),
      { numRuns: 12 },
    );
    expect(await checkLedger(db())).toEqual([]);
  });

  it('serializes payments and charges of one tenant', async () => {
    const tenant = await app.paidTenant({ cents: 5000 });
    const work = Array.from({ length: 30 }, (_, turn) =>
      turn % 6 === 0 ? app.pay(tenant, { cents: 1000 }) : charge(tenant, records(20)),
    );
    await Promise.all(work);
    await app.settled();
    const { rows } = await db().query('select sum(amount) from postings where tenant_id = $1', [
      idOf(tenant),
    ]);
    expect(await balanceOf(tenant)).toBe(Number(rows[0].sum));
    expect(await count('payments', tenant)).toBe(6);
  });
});

describe('when connections to the database are cut', () => {
  it('answers an error, recovers, and neither loses nor duplicates a charge', async () => {
    const tenant = await app.paidTenant();
    const batches = Array.from({ length: 40 }, () => records(200));
    let cutting = true;
    const cutter = (async () => {
      while (cutting) {
        await db()
          .query(
            `select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
          )
          .catch(() => undefined);
        await wait(3);
      }
    })();
    const refusals = [[500, { error: 'internal error' }]];
    // There the outage of one server is expected to leave the tenants of others alone.
    if (isDistributed())
      for (const reason of ['the service is busy', 'a database server is away'])
        refusals.push([503, { error: `${reason}: try again` }]);
    const answers: Answer[] = [];
    const lanes = Array.from({ length: 4 }, async (_, lane) => {
      for (const batch of batches.filter((__, index) => index % 4 === lane)) {
        const answer = await report(tenant, batch);
        answers.push(answer);
        if (answer.status === 200) expect(answer.json.charged + answer.json.duplicates).toBe(200);
        else expect(refusals).toContainEqual([answer.status, answer.json]);
      }
    });
    await Promise.all(lanes);
    cutting = false;
    await cutter;
    expect(answers.some((answer) => answer.status !== 200)).toBe(true);

    for (const batch of batches) expect((await charge(tenant, batch)).charged % 200).toBe(0);
    expect(await count('usage_records', tenant)).toBe(8000);
    for (const batch of batches) expect(await charge(tenant, batch)).toMatchObject({ duplicates: 200 });
  });
});

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../../src/base/db/pool.ts';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { findAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { INITIAL_CARRY, ROUNDINGS, type Rounding } from '../../../src/money/pricing/carry.ts';
import { BUILT_IN_RATES } from '../../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import type { SimulatedParticipants } from '../../../src/money/simulation/room-price.ts';
import { simulateRoom } from '../../../src/money/simulation/simulate-room.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { anyRoom, reportsOf } from './support.ts';

const app = useService();

let tenant: TenantId;
let made = 0;

beforeEach(async () => {
  tenant = parseTenantId((await app.paidTenant()).id)!;
});

const depsOf = (billingRounding: Rounding) => {
  const { deps } = app.service;
  return { ...deps, config: { ...deps.config, billingRounding } };
};

/** Report the room as a relay would, in one batch. Returns what it cost. */
async function charge(room: readonly SimulatedParticipants[], rounding: Rounding = 'carry'): Promise<bigint> {
  const records = room.flatMap(reportsOf).map((usage): UsageRecord => {
    made += 1;
    return { ...usage, id: `made-${made}`, room: undefined, participant: undefined, ingressBytes: 0n };
  });
  const batch = { tenant, records: UsageRecords.from(records) };
  const outcomes = await chargeTenant(depsOf(rounding), tenant, [batch]);
  return outcomes.get(batch)!.total;
}

/** Costs 1.490116 micros a record. */
function listener(fields: Partial<SimulatedParticipants> = {}): SimulatedParticipants {
  return {
    role: 'audience',
    tier: 'audio',
    count: 1,
    seconds: 10,
    egressBytes: 80_000n,
    intervalSeconds: undefined,
    ...fields,
  };
}

describe('simulateRoom', () => {
  it.each(ROUNDINGS)(
    'tells exactly what a charge of the same records then costs, with %s',
    async (rounding) => {
      await fc.assert(
        fc.asyncProperty(anyRoom, async (room) => {
          const simulated = await simulateRoom(depsOf(rounding), tenant, room);
          expect(simulated.terms).toMatchObject({ rates: { version: 1 }, rule: { version: 1 }, rounding });
          expect(await charge(room, rounding)).toBe(simulated.room.amount);
          const { balance, carry } = await findAccount(app.service.deps.db, tenant);
          expect({ balance, carry }).toEqual({
            balance: simulated.balanceAfter,
            carry: simulated.room.carryAfter,
          });
        }),
        { numRuns: 60 },
      );
    },
  );

  it('is off by a micro at most if another charge comes between', async () => {
    await fc.assert(
      fc.asyncProperty(anyRoom, fc.integer({ min: 1, max: 5 }), async (room, count) => {
        const simulated = await simulateRoom(depsOf('carry'), tenant, room);
        await charge([listener({ count })]);
        const difference = (await charge(room)) - simulated.room.amount;
        expect(difference >= -1n && difference <= 1n).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('starts from the carry of the tenant', async () => {
    const first = await simulateRoom(depsOf('carry'), tenant, [listener()]);
    expect(first.room).toMatchObject({ amount: 1n, carryBefore: INITIAL_CARRY });
    await charge([listener()]);
    const second = await simulateRoom(depsOf('carry'), tenant, [listener()]);
    expect(second.room).toMatchObject({ amount: 2n, carryBefore: first.room.carryAfter });
  });

  it('prices with the newest card', async () => {
    const gib = listener({ seconds: 86_400, egressBytes: 2n ** 30n });
    const { db } = app.service.deps;
    expect((await simulateRoom(depsOf('carry'), tenant, [gib])).room.amount).toBe(20_000n);
    await loadRates(db, OPERATOR, { ...BUILT_IN_RATES, platform_fee_per_gib: '0.05' });
    expect(await simulateRoom(depsOf('carry'), tenant, [gib])).toMatchObject({
      room: { amount: 50_000n },
      terms: { rates: { version: 2 } },
    });
    await loadRates(db, OPERATOR, BUILT_IN_RATES, { again: true });
  });

  it('prices for an exempt tenant as a charge does, and leaves its balance', async () => {
    const { db } = app.service.deps;
    await charge([listener()]);
    await db.query('update tenants set exempt = true where id = $1', [tenant]);
    const simulated = await simulateRoom(depsOf('carry'), tenant, [listener()]);
    expect(simulated).toMatchObject({ exempt: true, room: { amount: 1n, carryBefore: INITIAL_CARRY } });
    expect(simulated.balanceAfter).toBe(simulated.balance);
    await charge([listener()]);
    const { rows } = await db.query(
      `select r.amount, p.carry from usage_records r
         join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
        where r.tenant_id = $1 and p.kind = 'unbilled'`,
      [tenant],
    );
    expect(rows).toEqual([{ amount: 1n, carry: simulated.room.carryAfter }]);
  });

  it('runs where nothing can be written', async () => {
    const readOnly = openPool(app.ownerUrl, { max: 1 });
    await readOnly.query('set default_transaction_read_only = on');
    const simulated = await simulateRoom({ ...depsOf('carry'), db: readOnly }, tenant, [listener()]);
    await readOnly.end();
    expect(simulated.room.amount).toBe(1n);
  });

  it('refuses a room that costs more than JSON can hold exactly', async () => {
    const dear = {
      ...BUILT_IN_RATES,
      platform_fee_per_gib: '999999',
      ceiling_per_1000_participant_minutes: {
        ...BUILT_IN_RATES.ceiling_per_1000_participant_minutes,
        host: { audio: '999999', hd: '999999', full_hd: '999999', '2k': '999999', '2k_plus': '999999' },
      },
    };
    const { db } = app.service.deps;
    await loadRates(db, OPERATOR, dear);
    // A day costs 1,439,998,560,000 micros.
    const host = listener({ role: 'host', seconds: 86_400, egressBytes: 2n ** 50n });
    const most = await simulateRoom(depsOf('carry'), tenant, [{ ...host, count: 6_254 }]);
    expect(most.room.amount).toBe(1_439_998_560_000n * 6_254n);
    await expect(simulateRoom(depsOf('carry'), tenant, [{ ...host, count: 6_256 }])).rejects.toMatchObject({
      kind: 'invalid_request',
      field: 'participants',
      message: 'invalid request: participants must cost $9007199254.740991 together at most',
    });
    await loadRates(db, OPERATOR, BUILT_IN_RATES, { again: true });
  });
});

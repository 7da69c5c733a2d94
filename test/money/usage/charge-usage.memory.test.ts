import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { useService } from '../../support/service.ts';

const MIB = 2 ** 20;

const app = useService();

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes of all live buffers. */
function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

it('keeps no more buffers after two thousand batches than after a hundred', {
  timeout: 300_000,
}, async () => {
  const tenants = await Promise.all([app.paidTenant(), app.paidTenant(), app.paidTenant()]);
  const charges = app.service.deps.charges;
  let batches = 0;
  const chargeMany = async (count: number) => {
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let turn = 0; turn < count / 10; turn += 1) {
          batches += 1;
          // Some batches fill several buffers, or need a larger one.
          const size = batches % 100 === 0 ? 2_000 : 10;
          const room = batches % 250 === 0 ? 'x'.repeat(300_000) : 'stage';
          const records = Array.from({ length: size }, (_, at) =>
            record(`${batches}.${at}`, at === 0 ? room : 'stage'),
          );
          const tenant = parseTenantId(tenants[batches % 3]!.id)!;
          const outcome = await charges.charge({ tenant, records: UsageRecords.from(records) });
          expect(outcome.charged).toBe(size);
        }
      }),
    );
  };
  await chargeMany(100);
  const before = heldBytes();
  await chargeMany(2_000);
  // A transaction uses at least one buffer of 64 KiB. The spare buffers, 3 MiB, stay; others are freed.
  await expect.poll(() => heldBytes() - before).toBeLessThan(8 * MIB);
});

function record(id: string, room: string): UsageRecord {
  return {
    id,
    room,
    participant: undefined,
    role: 'host',
    tier: 'hd',
    seconds: 60,
    egressBytes: 1_000_000n,
    ingressBytes: 0n,
  };
}

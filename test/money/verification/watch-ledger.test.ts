import pino from 'pino';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Repeating } from '../../../src/base/lib/repeat.ts';
import { repeat } from '../../../src/base/lib/repeat.ts';
import { newTenantId, renderTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { makeMetrics } from '../../../src/doors/metrics.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { watchLedger } from '../../../src/money/verification/watch-ledger.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
/** Allows for slow machines. */

const TENANTS = 450;
const ids = Array.from({ length: TENANTS }, newTenantId).sort((a, b) => (a < b ? -1 : 1));
const [first, second] = [ids[0]!, ids[1]!];
const last = ids.at(-1)!;

let watch: Repeating | undefined;
let lines: string[] = [];

beforeAll(async () => {
  for (const id of ids) await makeTenant(database.pool, { id });
  // Allow the corruption that the tests simulate.
  await database.pool.query('alter table accounts drop constraint accounts_newest');
});
afterEach(async () => {
  await watch?.stop();
});

/** Start the watch. Each call of the result runs another turn and returns the drift metric. */
function start(): () => Promise<number> {
  lines = [];
  const metrics = makeMetrics();
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const started = repeat(15, watchLedger({ db: database.pool, log, metrics }), (error) =>
    log.error({ err: error }),
  );
  watch = started;
  return async () => {
    started.wake();
    return (await metrics.ledgerDrift.get()).values[0]!.value;
  };
}

const adjust = (id: TenantId, amount: bigint) =>
  adjustCredit(database.pool, OPERATOR, id, { amount, reason: 'a gift', id: undefined });

const corrupt = (id: TenantId, by: number) =>
  database.pool.query(
    'update accounts set balance = balance + $2, last_seq = coalesce(last_seq, 1) where tenant_id = $1',
    [id, by],
  );

describe('the watch over the ledger', () => {
  it('detects a balance that differs from its ledger, and its repair', async () => {
    await adjust(first, 5_000_000n);
    const drift = start();
    await corrupt(first, 7);
    await expect.poll(drift).toBe(7);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      tenant: renderTenantId(first),
      drift: '7',
      msg: 'a balance differs from its ledger',
    });
    await corrupt(first, -7);
    await expect.poll(drift).toBe(0);
  });

  it('adds up the postings since the last turn', async () => {
    await adjust(first, 1n);
    const drift = start();
    await corrupt(second, 3);
    await expect.poll(drift).toBe(3);
    await adjust(first, -2_000_000n);
    await adjust(first, 123n);
    await corrupt(first, 10);
    await expect.poll(drift).toBe(13);
    await corrupt(first, -10);
    await corrupt(second, -3);
    await expect.poll(drift).toBe(0);
  });

  it('does not offset a loss with a gain', async () => {
    const drift = start();
    await corrupt(first, 5);
    await corrupt(second, -5);
    await expect.poll(drift).toBe(10);
    await corrupt(first, -5);
    await corrupt(second, 5);
  });

  it('checks every tenant, some at each turn', async () => {
    const drift = start();
    await corrupt(last, -1);
    await expect.poll(drift).toBe(1);
    await corrupt(last, 1);
    await expect.poll(drift).toBe(0);
  });
});

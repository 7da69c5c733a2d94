import { expect, test, vi } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { TenantTurns } from '../../../src/base/tenants/tenant-turns.ts';
import { retryAfterSeconds } from '../../../src/base/tenants/turn-backoff.ts';

const ANN = parseTenantId('t_0000000000000001')!;
const BOB = parseTenantId('t_0000000000000002')!;

test('a tenant whose turns fail is left out for longer each time, until one succeeds', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const log = { error: vi.fn() };
  const turns = new TenantTurns(log as never, 'folding');
  const fail = () => turns.take(ANN, () => Promise.reject(new Error('broken')));
  let time = 0;
  for (const failures of [1, 2, 3, 12]) {
    while (log.error.mock.calls.length < failures) expect(await fail()).toBeUndefined();
    expect(log.error).toHaveBeenLastCalledWith(
      expect.objectContaining({ tenant: 't_0000000000000001', failures }),
      'folding failed; it is tried again',
    );
    expect(await turns.take(BOB, async () => 'done')).toBe('done');
    expect(turns.leftOut()).toEqual([ANN]);
    time += retryAfterSeconds(failures) * 1000;
    now.mockReturnValue(time - 1);
    expect(turns.leftOut()).toEqual([ANN]);
    now.mockReturnValue(time);
    expect(turns.leftOut()).toEqual([]);
  }
  await turns.take(ANN, async () => 'done');
  await fail();
  expect(log.error).toHaveBeenLastCalledWith(expect.objectContaining({ failures: 1 }), expect.anything());
  now.mockRestore();
});

import { expect, test } from 'vitest';
import { LANES } from '../../../src/outward/webhooks/delivery-lane.ts';
import { laneStatements } from '../../../src/outward/webhooks/lane-statements.ts';

test.each(LANES)(
  'statements of the lane %s that never end keep no other lane from its own',
  async (hanging) => {
    const run = laneStatements();
    const never = () => new Promise<never>(() => {});
    for (let count = 0; count < 100; count += 1) void run[hanging](never);
    for (const lane of LANES.filter((each) => each !== hanging))
      expect(await run[lane](async () => lane)).toBe(lane);
  },
);

test('one at a time in a lane, and two in the fast one', async () => {
  for (const lane of LANES) {
    const run = laneStatements();
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 10 }, () =>
        run[lane](async () => {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          running -= 1;
        }),
      ),
    );
    expect(most).toBe(lane === 'fast' ? 2 : 1);
  }
});

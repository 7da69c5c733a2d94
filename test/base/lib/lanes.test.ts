import { expect, test } from 'vitest';
import { Lanes } from '../../../src/base/lib/lanes.ts';

test('so much runs at the same time, in the order of the calls, also after failures', async () => {
  const lanes = new Lanes(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const runs = gates.map(({ promise }, at) =>
    lanes.run(async () => {
      begun.push(at);
      await promise;
      return at;
    }),
  );
  expect(begun).toEqual([0, 1]);
  gates[1]!.reject(new Error('broken'));
  await expect(runs[1]).rejects.toThrow('broken');
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  expect(await Promise.all(runs.filter((_, at) => at !== 1))).toEqual([0, 2, 3, 4]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(await lanes.run(async () => 'free')).toBe('free');
});

/** Records until the disk is full, and then some more: `node run-full-disk.ts <spool>`. */
import { join } from 'node:path';
import { systemClock } from '../../../../sdk/typescript/src/relay/usage/clock.ts';
import { openUsageReporter, UsageError } from '../../../../sdk/typescript/src/relay/usage/index.ts';
import { Spool } from '../../../../sdk/typescript/src/relay/usage/spool.ts';

const reporter = await openUsageReporter({
  url: 'http://127.0.0.1:1',
  key: 'relay-key',
  spool: process.argv[2]!,
  relayId: 'relay-7',
  fetch: () => Promise.reject(new TypeError('fetch failed')),
});
const acknowledged: string[] = [];
const refused: string[] = [];
for (let round = 0; round < 20; round += 1) {
  const stored = Array.from({ length: 5 }, (_, index) =>
    reporter.record({
      participant: `p-${round}-${index}`,
      role: 'host',
      tier: 'hd',
      seconds: 60,
      egressBytes: 1_000,
      ingressBytes: 1_000,
    }),
  );
  await reporter.sync();
  for (const result of await Promise.allSettled(stored)) {
    if (result.status === 'fulfilled') acknowledged.push(...result.value);
    else refused.push(result.reason instanceof UsageError ? result.reason.code : String(result.reason));
  }
}
await reporter.close({ deadlineSeconds: 0 });

const other = await Spool.open({
  folder: join(process.argv[2]!, 'other'),
  limits: { records: 1, bytes: 1_000 },
  clock: systemClock,
  emit: () => undefined,
  onChange: () => undefined,
  running: () => [],
});
// The second one is cut short.
for (const size of [3_000, 3_000, 1])
  await other.quarantine(JSON.stringify({ id: 'x'.repeat(size) }), 'no').catch(() => undefined);
await other.close();
process.stdout.write(JSON.stringify({ acknowledged, refused }));

/** Records until the disk is full, and then some more: `node run-full-disk.ts <spool>`. */
import { openUsageReporter, UsageError } from '../../../../sdk/typescript/src/relay/usage/index.ts';

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
process.stdout.write(JSON.stringify({ acknowledged, refused }));

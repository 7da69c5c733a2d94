/**
 * A relay in a process of its own, for tests that kill it: `node run-reporter.ts <spool> <url> <name> <seed>`.
 *
 * It records until it is killed and prints what was acknowledged, a line each: id, seconds, bytes out,
 * bytes in. The name `drain` records nothing: it sends the rest and prints how many records remain.
 */
import { flushCompileCache } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { openUsageReporter } from '../../../../sdk/typescript/src/relay/usage/index.ts';
import { seeded } from '../../../support/seeded.ts';

const [spool, url, name, seed] = process.argv.slice(2) as [string, string, string, string];
const random = seeded(Number(seed));
const reporter = await openUsageReporter({
  url,
  key: 'relay-key',
  spool,
  relayId: 'relay-7',
  batchRecords: 40,
  batchSeconds: 0.03,
  // Almost no backoff: retries are immediate.
  random: () => random() / 100,
});
// A killed process would not write its compile cache.
flushCompileCache();
process.stdout.write('open\n');

if (name === 'drain') {
  const { left } = await reporter.close({ deadlineSeconds: 60 });
  process.stdout.write(`${left}\n`);
} else {
  for (let count = 0; ; count += 1) {
    const measured = {
      participant: `${name}-${count}`,
      seconds: Math.floor(random() * 60),
      egressBytes: Math.floor(random() * 1e9),
      ingressBytes: Math.floor(random() * 1e6),
    };
    const storing = reporter.record({ room: 'main', role: 'audience', tier: 'hd', ...measured });
    void storing.then(([id]) => {
      const { seconds, egressBytes, ingressBytes } = measured;
      process.stdout.write(`${id} ${seconds} ${egressBytes} ${ingressBytes}\n`);
    });
    if (random() < 0.05) await storing;
    else await turn();
  }
}

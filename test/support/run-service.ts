/**
 * A service in a process of its own, for tests that kill it:
 * `node run-service.ts <database url> <SMTP port or nothing> fast|usual keep|archive`. With `archive`, records are archived as soon as
 * they are charged.
 */
import { flushCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { archiveRecords } from '../../src/money/records/archive-records.ts';
import { startService } from '../../src/run/service.ts';
import { bareConfig, smtpConfig } from './bare-config.ts';
import { FAST_WEBHOOKS } from './receiver.ts';

const [databaseUrl, smtpPort, webhooks, archive] = process.argv.slice(2);
const mail = smtpPort ? smtpConfig(Number(smtpPort)) : undefined;
const archiveAfterSeconds = archive === 'archive' ? 0 : undefined;
const service = await startService(
  { ...bareConfig(databaseUrl!), mail, archiveAfterSeconds },
  pino({ level: 'silent' }),
  { webhooks: webhooks === 'usual' ? undefined : FAST_WEBHOOKS },
);
// A killed process would not write its compile cache.
flushCompileCache();
process.stdout.write(`${JSON.stringify({ port: service.port, grpcPort: service.grpcPort })}\n`);
// The job would begin after most tests have killed the process.
while (archiveAfterSeconds !== undefined) {
  await archiveRecords({ ...service.deps, config: { archiveAfterSeconds } });
  await wait(5);
}

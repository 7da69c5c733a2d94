/** A service in a process of its own, for tests that kill it: `node run-service.ts <database url> [<SMTP port>]`. */
import { flushCompileCache } from 'node:module';
import pino from 'pino';
import { startService } from '../../src/run/service.ts';
import { bareConfig, smtpConfig } from './bare-config.ts';
import { FAST_WEBHOOKS } from './receiver.ts';

const [databaseUrl, smtpPort] = process.argv.slice(2);
const mail = smtpPort === undefined ? undefined : smtpConfig(Number(smtpPort));
const service = await startService({ ...bareConfig(databaseUrl!), mail }, pino({ level: 'silent' }), {
  webhooks: FAST_WEBHOOKS,
});
// A killed process would not write its compile cache.
flushCompileCache();
process.stdout.write(`${JSON.stringify({ port: service.port, grpcPort: service.grpcPort })}\n`);

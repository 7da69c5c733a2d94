/** A service in a process of its own, for tests that kill it: `node run-service.ts <database url>`. */
import { flushCompileCache } from 'node:module';
import pino from 'pino';
import { startService } from '../../src/run/service.ts';
import { bareConfig } from './bare-config.ts';
import { FAST_WEBHOOKS } from './receiver.ts';

const service = await startService(bareConfig(process.argv[2]!), pino({ level: 'silent' }), {
  webhooks: FAST_WEBHOOKS,
});
// A killed process would not write its compile cache.
flushCompileCache();
process.stdout.write(`${JSON.stringify({ port: service.port, grpcPort: service.grpcPort })}\n`);

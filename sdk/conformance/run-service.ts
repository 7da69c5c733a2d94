/**
 * A service in a process of its own, for steps that kill it: `node run-service.ts <changes>`. The changes of the
 * bare settings are JSON.
 */
import { flushCompileCache } from 'node:module';
import pino from 'pino';
import { startService } from '../../src/run/service.ts';
import { bareConfig } from '../../test/support/bare-config.ts';

const changes = JSON.parse(process.argv[2]!);
const config = { ...bareConfig(changes.databaseUrl), ...changes };
const service = await startService(config, pino({ level: 'silent' }));
// A killed process would not write its compile cache.
flushCompileCache();
process.stdout.write(`${JSON.stringify({ port: service.port, grpcPort: service.grpcPort })}\n`);

/** A service in a process of its own, for tests that kill it: `node run-service.ts <database url>`. */
import pino from 'pino';
import { startService } from '../../src/service.ts';

const service = await startService(
  {
    host: '127.0.0.1',
    port: 0,
    opsPort: 0,
    databaseUrl: process.argv[2]!,
    publicUrl: 'http://service.test',
    stripeSecretKey: undefined,
    stripeWebhookSecrets: [],
    stripeApiBase: undefined,
    keyPrefix: 'svc',
    ratesFile: undefined,
    trustProxy: [],
    signupCheckoutCents: 2000,
    billingRounding: 'carry',
    joinAddress: undefined,
    joinOrigins: [],
    joinCreatesRooms: true,
    confusableUsernames: 'allow',
    secretsKey: Buffer.alloc(32),
  },
  pino({ level: 'silent' }),
);
process.stdout.write(`${service.port}\n`);

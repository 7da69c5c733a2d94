/** The service as benchmarks run it: a process of its own, without payments and without request logs. */
import pino from 'pino';
import { startService } from '../src/service.ts';

const service = await startService(
  {
    host: '127.0.0.1',
    port: 0,
    opsPort: 0,
    databaseUrl: process.env.DATABASE_URL!,
    publicUrl: 'http://127.0.0.1',
    stripeSecretKey: undefined,
    stripeWebhookSecrets: [],
    stripeApiBase: undefined,
    keyPrefix: 'svc',
    ratesFile: undefined,
    trustProxy: [],
    signupCheckoutCents: 2000,
    billingRounding: 'carry',
  },
  pino({ level: 'warn' }),
);
process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }));
process.once('SIGTERM', async () => {
  await service.stop();
  process.exit(0);
});
process.send?.({ url: `http://127.0.0.1:${service.port}` });

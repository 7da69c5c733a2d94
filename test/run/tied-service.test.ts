/** The service of a drill answers, and does nothing by itself: what waits to leave the database stays there. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../src/run/service.ts';
import { bareConfig } from '../support/bare-config.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

test('a tied service has no background work, whose first step asks the provider', async () => {
  let asked = 0;
  const provider = createServer((_request, response) => {
    asked += 1;
    response.writeHead(500).end('{}');
  });
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void provider.close());
  const config = {
    ...bareConfig(database.url),
    stripeSecretKey: 'sk_test_x',
    stripeWebhookSecrets: ['whsec_x'],
    stripeApiBase: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
  };
  const askedBy = async (isTied: boolean) => {
    const before = asked;
    const service = await startService(config, pino({ level: 'silent' }), { isTied });
    const { status } = await fetch(`http://127.0.0.1:${service.port}/.well-known/jwks.json`);
    await service.stop();
    return { status, asked: asked > before };
  };
  expect(await askedBy(true)).toEqual({ status: 200, asked: false });
  expect(await askedBy(false)).toEqual({ status: 200, asked: true });
});

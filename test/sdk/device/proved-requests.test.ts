import { expect, test } from 'vitest';
import { createDevice } from '../../../sdk/typescript/src/device/device.ts';
import { ConnectError } from '../../../sdk/typescript/src/device/index.ts';
import { ProvedRequests } from '../../../sdk/typescript/src/device/proved-requests.ts';

test('a relay that gives no answer is an error that says so, and may be retried', async () => {
  const device = await createDevice();
  const requests = new ProvedRequests({ device, token: () => 'secret', dtlsFingerprint: 'ab' });
  const error = await requests.send('POST', 'http://127.0.0.1:1/rooms/lobby/whip').catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ConnectError);
  expect(error).toMatchObject({ code: 'NETWORK', status: undefined, retryable: true });
  expect(error.message).toMatch(/^no answer from http:\/\/127\.0\.0\.1:1: /);
  expect(error.message).not.toContain('secret');
});

/** The proxy and a relay that misbehaves. What it does with a real one: test/relay/whip-proxy.test.ts. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createDevice } from '../../../sdk/typescript/src/device/device.ts';
import { Session } from '../../../sdk/typescript/src/device/session.ts';
import { createWhipProxy } from '../../../sdk/typescript/src/whip-proxy/proxy.ts';

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy of a relay that breaks off in the middle of each answer. */
async function startProxy(): Promise<{ readonly url: string; readonly logged: string[] }> {
  const relay = await listen(
    createServer((asked, answer) => {
      asked.resume();
      answer.writeHead(201, { location: '/sessions/one', 'dpop-nonce': 'n', 'content-length': 100 });
      answer.write('v=0\r\n', () => answer.destroy());
    }),
  );
  const grant = { token: 'a.b.c', expiresAt: new Date(Date.now() + 60_000) };
  const session = new Session({ grant, renew: async () => grant });
  onTestFinished(() => session.leave());
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const device = await createDevice();
  const proxy = createWhipProxy({ relay, device, session, room: 'hall', streamKey: 'secret', log });
  return { url: `${await listen(proxy)}/whip`, logged };
}

const HEADERS = { authorization: 'Bearer secret', 'content-type': 'application/sdp' };
const OFFER = `v=0\r\na=fingerprint:sha-256 ${'00:'.repeat(31)}00\r\n`;

test('a relay that breaks off in the middle of an answer ends the request, and not the proxy', async () => {
  const { url, logged } = await startProxy();
  for (let count = 0; count < 2; count += 1) {
    const answer = fetch(url, { method: 'POST', headers: HEADERS, body: OFFER });
    await expect(answer.then((each) => each.text())).rejects.toThrow();
  }
  expect(logged.filter((line) => line.startsWith('POST /whip: '))).toHaveLength(2);
  expect(logged.join()).not.toContain('a.b.c');
});

test('a body without an end is not read to its end', async () => {
  const { url, logged } = await startProxy();
  const endless = request(url, { method: 'POST', headers: { ...HEADERS, 'transfer-encoding': 'chunked' } });
  const refused = once(endless, 'error');
  const pour = () => {
    while (!endless.destroyed && endless.write(Buffer.alloc(16_384)));
    endless.once('drain', pour);
  };
  pour();
  await refused;
  await expect.poll(() => logged).toEqual(['POST /whip: the body is too large']);
});

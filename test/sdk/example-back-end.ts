/** Runs a project of `examples` that is a back end, and does what its devices and the service do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { signWebhook } from '../../src/outward/webhooks/signature.ts';
import { newSecret } from '../../src/outward/webhooks/webhook-secret.ts';

const EVENT = '{"id":"evt_1","seq":0,"type":"webhook_test","timestamp":"2026-11-22T18:00:00.000Z","data":{}}';

/** The beginning of the answer to a request with such a header, whose connection stays open. */
async function answerTo(url: string, header: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  try {
    socket.write(`POST /webhooks HTTP/1.1\r\nhost: example\r\n${header}\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    return String(answer);
  } finally {
    socket.destroy();
  }
}

/** `env`: where the service is, and the key of a tenant. */
export async function tryBackEnd(
  [command, ...args]: readonly [string, ...string[]],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const { secret, keys } = newSecret();
  const child = spawn(command, args, {
    cwd,
    env: { ...env, PATH: process.env.PATH, PORT: '0', WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const url = String((await lines.next()).value);
    const post = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, { method: 'POST', body, headers });

    const { thumbprint } = await createDevice();
    const minted = await post('/tokens', JSON.stringify({ username: 'Ann', thumbprint }));
    expect(minted.status).toBe(200);
    const { token, expires_at } = (await minted.json()) as { token: string; expires_at: string };
    expect(token.split('.')).toHaveLength(3);
    expect(new Date(expires_at) > new Date()).toBe(true);
    for (const body of ['{"username":"Ann","thumbprint":"x"}', '{'])
      expect((await post('/tokens', body)).status, body).toBe(400);

    expect(await answerTo(url, 'content-length: -1')).toMatch(/^HTTP\/1\.[01] 4/);

    const headers = () => signWebhook({ id: 'evb_1', at: new Date(), body: EVENT }, [keys]);
    expect((await post('/webhooks', EVENT)).status).toBe(401);
    expect((await post('/webhooks', EVENT, headers())).status).toBe(200);
    expect((await post('/webhooks', EVENT, headers())).status).toBe(200);
    expect((await lines.next()).value).toBe('event webhook_test');

    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toStrictEqual([0, null]);
    // The second time, the event was known.
    expect(await lines.next()).toMatchObject({ done: true });
  } finally {
    child.kill('SIGKILL');
  }
}

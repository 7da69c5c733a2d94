/** Runs projects of `examples` that are back ends, and does what their devices and the service do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { signWebhook } from '../../src/outward/webhooks/signature.ts';
import { newSecret } from '../../src/outward/webhooks/webhook-secret.ts';

const EVENT = '{"id":"evt_1","seq":0,"type":"webhook_test","timestamp":"2026-11-22T18:00:00.000Z","data":{}}';

type Command = readonly [string, ...string[]];
interface Options {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

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

/** A program that runs, and has printed its address. */
async function start([command, ...args]: Command, { cwd, env }: Options) {
  const { secret, keys } = newSecret();
  const child = spawn(command, args, {
    cwd,
    env: { ...env, PATH: process.env.PATH, PORT: '0', WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const url = String((await lines.next()).value);
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: 'POST', body, headers });
  return { child, lines, url, post, keys };
}

/** It refuses a request without a signature, and handles an event that comes twice once. */
async function sendEvents({ lines, post, keys }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const headers = () => signWebhook({ id: 'evb_1', at: new Date(), body: EVENT }, [keys]);
  expect((await post('/webhooks', EVENT)).status).toBe(401);
  expect((await post('/webhooks', EVENT, headers())).ok).toBe(true);
  expect((await post('/webhooks', EVENT, headers())).ok).toBe(true);
  expect((await lines.next()).value).toBe('event webhook_test');
}

/** `env`: where the service is, and the key of a tenant. */
export async function tryBackEnd(command: Command, options: Options): Promise<void> {
  const program = await start(command, options);
  const { child, lines, url, post } = program;
  try {
    const { thumbprint } = await createDevice();
    const minted = await post('/tokens', JSON.stringify({ username: 'Ann', thumbprint }));
    expect(minted.status).toBe(200);
    const { token, expires_at } = (await minted.json()) as { token: string; expires_at: string };
    expect(token.split('.')).toHaveLength(3);
    expect(new Date(expires_at) > new Date()).toBe(true);
    for (const body of ['{"username":"Ann","thumbprint":"x"}', '{'])
      expect((await post('/tokens', body)).status, body).toBe(400);

    expect(await answerTo(url, 'content-length: -1')).toMatch(/^HTTP\/1\.[01] 4/);
    await sendEvents(program);

    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toStrictEqual([0, null]);
    // The second time, the event was known.
    expect(await lines.next()).toMatchObject({ done: true });
  } finally {
    child.kill('SIGKILL');
  }
}

/** Only receives webhooks. */
export async function tryReceiver(command: Command, options: Options): Promise<void> {
  const program = await start(command, options);
  const { child, lines, post } = program;
  try {
    await sendEvents(program);
    expect((await fetch(`${program.url}/webhooks`)).status).toBe(405);
    const tooLong = post('/webhooks', 'x'.repeat(3 << 20)).then(({ status }) => status);
    // It may close the connection before it has read all.
    expect(await tooLong.catch(() => 413)).toBeOneOf([400, 413]);
    child.kill('SIGTERM');
    expect(await lines.next()).toMatchObject({ done: true });
  } finally {
    child.kill('SIGKILL');
  }
}

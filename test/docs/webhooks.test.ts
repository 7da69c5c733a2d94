/** The receivers of docs/webhooks.md (`code.test.ts`) run here, and get what the service signs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, inject, test } from 'vitest';
import {
  BUILD_MS_MAX,
  findPython,
  findTool,
  hasPython,
  RUST_TARGET,
  runTool,
} from '../../scripts/toolchains.ts';
import { signWebhook } from '../../src/outward/webhooks/signature.ts';
import { newSecret } from '../../src/outward/webhooks/webhook-secret.ts';
import { readBlocks } from './blocks.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Example {
  readonly isThere: boolean;
  /** Builds the program, and names the command that runs it. */
  readonly build: () => Promise<readonly string[]>;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  ts: {
    isThere: true,
    build: async () => [process.execPath, join(ROOT, 'sdk/typescript/examples/webhook-receiver.ts')],
  },
  go: {
    isThere: findTool('go') !== undefined,
    build: async () => {
      const program = join(await mkdtemp(join(inject('scratch'), 'receiver-')), 'receiver');
      await runTool('go', ['build', '-o', program, './internal/webhookreceiver'], { folder: 'sdk/go' });
      return [program];
    },
  },
  rust: {
    isThere: findTool('cargo') !== undefined,
    build: async () => {
      const args = ['build', '--locked', '--all-features', '--example', 'webhook_receiver'];
      await runTool('cargo', args, { folder: 'sdk/rust' });
      return [join(RUST_TARGET, 'debug/examples/webhook_receiver')];
    },
  },
  python: {
    isThere: hasPython(),
    build: async () => [(await findPython())!, join(ROOT, 'sdk/python/examples/webhook_receiver.py')],
  },
};

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill();
});

const own = newSecret();
const old = newSecret();
const stranger = newSecret();
/** Its members are in the order in which each language writes them. */
const eventOf = (id: string) => `{"id":"${id}","name":"Zoë 🎈","type":"balance_low"}`;

/** A receiver that runs, and the events that it kept so far. */
async function startReceiver({ build }: Example, secret = own.secret) {
  const [command, ...args] = await build();
  const events: string[] = [];
  const child = spawn(command!, args, {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const port = await new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('port ')) resolve(line.slice(5));
      else events.push(line);
    });
  });
  return {
    events,
    send: async (headers: Readonly<Record<string, string>>, body = eventOf(headers['webhook-id'] ?? '')) => {
      const request = { method: 'POST', headers: { ...headers }, body };
      return (await fetch(`http://127.0.0.1:${port}/hook`, request)).status;
    },
  };
}

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);
const sign = (id: string, at = new Date(), keys = [own.keys], body = eventOf(id)) =>
  signWebhook({ id, at, body }, keys);
const without = (headers: Readonly<Record<string, string>>, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));
const only = (headers: Readonly<Record<string, string>>, version: string) => ({
  ...headers,
  'webhook-signature': headers['webhook-signature']!.split(' ')
    .filter((each) => each.startsWith(`${version},`))
    .join(' '),
});

test('docs/webhooks.md shows the head of a request as it is sent', () => {
  const [block] = readBlocks('docs/webhooks.md').filter(({ language }) => language === 'http');
  const [first, ...shown] = block!.text.trim().split('\n');
  expect(first).toBe('POST /hook HTTP/1.1');
  const sent: Readonly<Record<string, string>> = { 'content-type': 'application/json', ...sign('evt_5f0c') };
  expect(shown.map((line) => line.split(': ')[0])).toEqual(Object.keys(sent));
  const [, signature = ''] = /^webhook-signature: (.*)$/m.exec(block!.text)!;
  const versions = (text: string) => text.split(' ').map((each) => each.split(',')[0]);
  expect(versions(signature)).toEqual(versions(sent['webhook-signature']!));
});

describe.each(Object.entries(EXAMPLES))('the receiver in %s', (_language, example) => {
  test.skipIf(!example.isThere)(
    'keeps genuine events once, and refuses all others',
    { timeout: BUILD_MS_MAX },
    async () => {
      const { events, send } = await startReceiver(example);
      expect(await send(sign('evt_1'))).toBe(204);
      expect(await send(sign('evt_1'))).toBe(204);
      expect(await send(sign('evt_2', secondsAgo(240)))).toBe(204);
      expect(await send(sign('evt_3', secondsAgo(-240)))).toBe(204);
      expect(await send(sign('evt_4', new Date(), [stranger.keys, own.keys]))).toBe(204);
      expect(await send(only(sign('evt_5'), 'v1'))).toBe(204);

      const genuine = sign('evt_x');
      const refused = [
        sign('evt_x', new Date(), [old.keys]),
        sign('evt_x', secondsAgo(400)),
        sign('evt_x', secondsAgo(-400)),
        { ...genuine, 'webhook-id': 'evt_y' },
        { ...genuine, 'webhook-timestamp': String(Number(genuine['webhook-timestamp']) + 1) },
        { ...genuine, 'webhook-timestamp': 'now' },
        { ...genuine, 'webhook-timestamp': '' },
        { ...genuine, 'webhook-signature': '' },
        { ...genuine, 'webhook-signature': 'v1,' },
        { ...genuine, 'webhook-signature': 'v1' },
        { ...genuine, 'webhook-signature': 'v1,AAAA v1,%%% v2,AAAA' },
        only(genuine, 'v1a'),
        { ...genuine, 'webhook-signature': only(genuine, 'v1')['webhook-signature']!.replace('v1,', 'v1a,') },
        ...Object.keys(genuine).map((name) => without(genuine, name)),
      ];
      for (const headers of refused) expect([headers, await send(headers)]).toEqual([headers, 401]);
      expect(await send(genuine, eventOf('evt_x').replace('low', 'ok'))).toBe(401);
      expect(await send(genuine, '')).toBe(401);
      expect(await send(genuine, 'x'.repeat(2 ** 20 + 1)).catch(() => 413)).toBe(413);

      expect(await send(genuine)).toBe(204);
      // The second list has one that came before.
      for (const ids of [['evt_6', 'evt_7'], ['evt_7', 'evt_8'], ['evt_9']]) {
        const list = `{"events":[${ids.map(eventOf).join(',')}]}`;
        expect(await send(sign('evb_1', new Date(), [own.keys], list), list)).toBe(204);
      }
      await expect
        .poll(() => events)
        .toEqual(
          [1, 2, 3, 4, 5, 'x', 6, 7, 8, 9].map((each) => `event evt_${each} ${eventOf(`evt_${each}`)}`),
        );

      // A secret that was forgotten is not an empty key that everyone knows.
      const careless = await startReceiver(example, '');
      const content = `evt_1.${genuine['webhook-timestamp']}.${eventOf('evt_1')}`;
      const forged = `v1,${createHmac('sha256', '').update(content).digest('base64')}`;
      expect(await careless.send({ ...genuine, 'webhook-id': 'evt_1', 'webhook-signature': forged })).toBe(
        401,
      );
    },
  );
});

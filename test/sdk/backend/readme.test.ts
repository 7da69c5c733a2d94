/** Runs the README's examples for back ends unchanged, with a real service. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import * as backendSdk from '../../../sdk/typescript/src/backend/index.ts';
import { createDevice } from '../../../sdk/typescript/src/device/index.ts';
import { spendAll } from '../../support/devices.ts';
import { useReceiver } from '../../support/receiver.ts';
import { useService } from '../../support/service.ts';
import { client, onEnd } from './support.ts';

const README = readFileSync(new URL('../../../sdk/typescript/README.md', import.meta.url), 'utf8');
const [calling, failing, watching, charging, telling, receiving] = [
  ...README.matchAll(/```ts\n(.*?)```/gs),
].map(([, code]) => code!);
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
const app = useService();
const receiver = useReceiver();

/** Run an example with its surrounding code, and return the names that it defines. */
async function run(code: string | undefined, around: Record<string, unknown>, defines: string[] = []) {
  const body = stripTypeScriptTypes(code!).replace(
    /import (\{.*?\}) from '@boxoffice\/sdk';/,
    'const $1 = backendSdk;',
  );
  const scope = { backendSdk, ...around };
  return await new AsyncFunction(...Object.keys(scope), `{ ${body}\nreturn { ${defines.join(', ')} }; }`)(
    ...Object.values(scope),
  );
}

/** `Boxoffice`, connected to the service of this file in place of the README's. */
function sdkOf(key: string): typeof backendSdk {
  class Boxoffice extends backendSdk.Boxoffice {
    constructor(options: backendSdk.BoxofficeOptions) {
      expect(options).toStrictEqual({
        url: 'https://boxoffice.example',
        controlUrl: 'https://control.example:443',
        apiKey: key,
      });
      super({ ...options, url: app.url, controlUrl: `http://127.0.0.1:${app.service.grpcPort}` });
      onEnd(() => this.close());
    }
  }
  return { ...backendSdk, Boxoffice };
}

test('a back end opens a room, admits a user, and moderates', async () => {
  const tenant = await app.paidTenant();
  const log: string[] = [];
  const around = {
    backendSdk: sdkOf(tenant.key),
    process: { env: { BOXOFFICE_API_KEY: tenant.key } },
    deviceThumbprint: (await createDevice()).thumbprint,
    log: (line: string) => log.push(line),
  };
  const { room, token, expireTime, balance, admitted } = await run(calling, around, [
    ...['room', 'token', 'expireTime', 'balance', 'admitted'],
  ]);
  expect(room).toMatchObject({ name: 'lobby', policy: { maxParticipants: 50 } });
  expect(token.split('.')).toHaveLength(3);
  expect(expireTime).toBeInstanceOf(Date);
  expect(log).toStrictEqual(['lobby: 1']);
  expect([balance.micros, admitted]).toStrictEqual([20_000_000n, true]);
});

test('a back end tells failures apart', async () => {
  const tenant = await app.paidTenant();
  const controlUrl = `http://127.0.0.1:${app.service.grpcPort}`;
  const boxoffice = client({ url: app.url, controlUrl, apiKey: tenant.key });
  const log: string[] = [];
  const { mint } = await run(failing, { log: (line: string) => log.push(line) }, ['mint']);
  const { thumbprint: deviceThumbprint } = await createDevice();
  const mintIn = (room: string) => mint(boxoffice, { room, username: 'ann', deviceThumbprint });
  for (const room of ['lobby', 'over']) await boxoffice.rooms.create({ room });
  await boxoffice.rooms.end({ room: 'over' });
  expect((await mintIn('lobby')).split('.')).toHaveLength(3);
  expect(await mintIn('over')).toBeUndefined();
  await expect(mintIn('nowhere')).rejects.toMatchObject({ kind: 'NotFound' });
  await spendAll(app, tenant);
  await expect(mintIn('lobby')).rejects.toMatchObject({ reason: 'NO_CREDIT' });
  expect(log).toStrictEqual([expect.stringMatching(/^top up the balance: request \S+$/)]);
});

test('a back end reads what was charged, and prices a room', async () => {
  const tenant = await app.paidTenant();
  const controlUrl = `http://127.0.0.1:${app.service.grpcPort}`;
  const connect = (apiKey: string) => client({ url: app.url, controlUrl, apiKey });
  const record = { id: 'r1', role: 'host', tier: 'hd', seconds: 60, egressBytes: 50_000_000 } as const;
  const records = [{ ...record, room: 'lobby', ingressBytes: 0 }];
  const { total: charged } = await connect(tenant.relayKey).usage.report(records);
  const log: string[] = [];
  // Whatever the clock says, the period of the example may not be too long.
  const code = charging!.replace("new Date('2026-11-01')", 'new Date(new Date().setUTCHours(0, 0, 0, 0))');
  const around = { boxoffice: connect(tenant.key), log: (line: string) => log.push(line) };
  const { sum, total, covered } = await run(code, around, ['sum', 'total', 'covered']);
  expect(sum).toMatchObject({ records: 1, total: charged });
  expect(log).toStrictEqual([
    expect.stringMatching(/^\d{4}-.*Z top_up \$20\.000000$/),
    expect.stringMatching(/^\d{4}-.*T00:00:00\.000Z lobby: \$0\./),
    charged.display,
  ]);
  expect(total.micros).toBeGreaterThan(0n);
  expect(covered).toBe(true);
});

test('a back end creates a webhook, and verifies what it gets', async () => {
  const tenant = await app.paidTenant();
  const boxoffice = client({ url: app.url, apiKey: tenant.key });
  const [saved, log, kept]: unknown[][] = [[], [], []];
  const around = { boxoffice, save: async (text: string) => saved!.push(text) };
  const code = telling!.replace('https://app.example.com/hooks/boxoffice', receiver.url('/readme'));
  const { secret } = await run(code, { ...around, log: (line: string) => log!.push(line) }, ['secret']);
  expect(saved).toStrictEqual([secret]);
  expect(log).toStrictEqual(['active: delivered']);
  expect(await boxoffice.alerts.get()).toMatchObject([{ belowMicros: 5_000_000n }, { belowHours: 24 }]);

  const { receive } = await run(
    receiving,
    {
      secret,
      oldSecret: secret,
      keepOnce: (_: string, event: object) => kept!.push(event),
      log: (line: string) => log!.push(line),
    },
    ['receive'],
  );
  const { headers, text } = receiver.received('/readme')[0]!;
  expect(receive(headers, Buffer.from(text))).toBe(204);
  expect(receive(headers, Buffer.from(`${text} `))).toBe(401);
  expect(kept).toStrictEqual([{ type: 'webhook_test', data: { message: 'This webhook works.' } }]);
  expect(log).toStrictEqual(['active: delivered', 'BAD_SIGNATURE']);
});

test('a back end follows events, and stores its position', async () => {
  const tenant = await app.paidTenant();
  const controlUrl = `http://127.0.0.1:${app.service.grpcPort}`;
  const boxoffice = client({ url: app.url, controlUrl, apiKey: tenant.key });
  await boxoffice.rooms.create({ room: 'lobby' });
  const { thumbprint: deviceThumbprint } = await createDevice();
  await boxoffice.tokens.mint({ room: 'lobby', username: 'ann', deviceThumbprint });
  const done = new AbortController();
  const seen: unknown[] = [];
  const saved: string[] = [];
  const around = {
    boxoffice,
    resumeToken: undefined,
    signal: done.signal,
    forgetEverything: () => seen.push('forgotten'),
    remember: ({ username }: backendSdk.Participant) => seen.push(username),
    save: async (resumeToken: string) => {
      saved.push(resumeToken);
      done.abort(new Error('enough'));
    },
  };
  await expect(run(watching, around)).rejects.toThrow('enough');
  expect(seen).toStrictEqual(['forgotten', 'ann']);
  expect(saved).toHaveLength(1);
});

test('the README names every kind of error', () => {
  const kinds = new Set<string>(Object.values(backendSdk.REASONS).map(({ kind }) => kind));
  for (const kind of [...kinds, 'RateLimited', 'Timeout']) expect(README).toContain(`| \`${kind}\``);
});

/** Runs the examples of the SDK's README unchanged: a device and a relay that meet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import * as deviceSdk from '../../sdk/typescript/src/device/index.ts';
import * as relaySdk from '../../sdk/typescript/src/relay/index.ts';
import { startJoinEndpoint } from './device/support.ts';
import {
  FINGERPRINT,
  hashed,
  jwks,
  KID,
  mint,
  NOW_SECONDS,
  ROOM_UID,
  sign,
  TENANT,
} from './relay/support.ts';
import { FakeService } from './relay/usage/usage-server.ts';

const README = readFileSync(new URL('../../sdk/typescript/README.md', import.meta.url), 'utf8');
// Examples for back ends run in backend/readme.test.ts.
const [, , , , , , verifying, renewing, following, reporting, joining] = [
  ...README.matchAll(/```ts\n(.*?)```/gs),
].map(([, code]) => code!);

/** Run an example with its surrounding code, and return the names that it defines. */
async function run(code: string | undefined, around: Record<string, unknown>, defines: string[]) {
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  const body = stripTypeScriptTypes(code!).replace(
    /import (\{.*?\}) from '@boxoffice\/sdk\/(\w+)';/g,
    'const $1 = $2Sdk;',
  );
  const scope: Record<string, unknown> = { relaySdk, deviceSdk, ...around };
  const example = new AsyncFunction(...Object.keys(scope), `{ ${body}\nreturn { ${defines.join(', ')} }; }`);
  return await example(...Object.values(scope));
}

test('a device joins, proves itself to a relay, and renews', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_SECONDS * 1000 });
  const fetchOfThePlatform = fetch;
  vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
    if (url !== 'https://boxoffice.example/.well-known/jwks.json') return await fetchOfThePlatform(url, init);
    return Response.json(jwks);
  });
  let joinAnswer = '';
  const endpoint = await startJoinEndpoint(() => ({ status: 200, body: joinAnswer }));
  /** Answers the latest device with a token that is bound to it. */
  const createDevice = async () => {
    const device = await deviceSdk.createDevice();
    const token = await mint({ cnf: { jkt: device.thumbprint } });
    const expiresAt = new Date((NOW_SECONDS + 600) * 1000).toISOString();
    const rest = { room: 'lobby', username: 'ann', keyId: 'kid', device: device.thumbprint };
    joinAnswer = JSON.stringify({ token, expiresAt, ...rest });
    return device;
  };
  const shown: string[] = [];

  try {
    const application = {
      deviceSdk: { ...deviceSdk, createDevice },
      joinUrl: endpoint.url,
      dtlsFingerprint: FINGERPRINT,
      show: (text: string) => shown.push(text),
      askTheRelayForAChallenge: () => expect.fail('too early'),
    };
    const { answer, session } = await run(joining, application, ['answer', 'session']);
    const connection = { ask: answer, dtlsFingerprint: FINGERPRINT, address: '192.0.2.7' };
    const log: string[] = [];
    const surroundings = { connection, reporter: { admitted: true }, log: (code: string) => log.push(code) };
    const { admission, verifier, letIn } = await run(verifying, surroundings, [
      'admission',
      'verifier',
      'letIn',
    ]);
    expect(admission).toMatchObject({ username: 'ann', room: 'lobby', role: 'host' });

    const { renewed } = await run(renewing, { verifier, connection, admission }, ['renewed']);
    expect(renewed).toMatchObject({ deviceThumbprint: admission.deviceThumbprint });

    const otherCertificate = createHash('sha256')
      .update('other')
      .digest('hex')
      .replace(/..(?!$)/g, '$&:');
    expect(await letIn({ ...connection, dtlsFingerprint: otherCertificate })).toBeUndefined();
    expect(log).toEqual(['DTLS_OTHER_CERTIFICATE']);

    session.moderated('KICKED');
    expect(shown).toEqual(['removed: KICKED']);
  } finally {
    await endpoint.close();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  }
});

test('a relay mutes and removes revoked participants', async () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'https://boxoffice.example',
    aud: 'relay:boxoffice.example',
    tid: TENANT,
    seq: 7,
    exp: nowSeconds + 60,
    epochs: [[hashed('epoch', ROOM_UID, 'bob'), 1]],
    bans: [],
    mutes: [[hashed('mute', ROOM_UID, 'ann'), 'audio']],
    closed: [],
  };
  const snapshot = await sign({ alg: 'ES256', kid: KID, typ: 'revocations+jwt' }, claims);
  vi.stubGlobal('fetch', async (url: string, { signal }: RequestInit) => {
    if (url === 'https://boxoffice.example/.well-known/jwks.json') return Response.json(jwks);
    if (url === `https://boxoffice.example/v1/revocations/${TENANT}`) return new Response(snapshot);
    return await new Promise((_, reject) => signal!.addEventListener('abort', reject));
  });
  const done: unknown[] = [];
  const sessionOf = (username: string, tenant = TENANT) => ({
    admission: { tenant, username, roomUid: ROOM_UID, epoch: 0, deviceThumbprint: 'x'.repeat(43) },
    address: '192.0.2.7',
    mute: (media: string[]) => done.push([username, media]),
    end: (code: string) => done.push([username, code]),
  });
  const sessions = [
    sessionOf('ann'),
    sessionOf('bob'),
    sessionOf('eve'),
    sessionOf('bob', 't_0000000000000000'),
  ];
  try {
    const surroundings = { sessions, log: (code: string) => expect.fail(code) };
    const { revocations } = await run(following, surroundings, ['revocations']);
    await expect.poll(() => revocations.get(TENANT)?.seq).toBe(7);
    await revocations.close();
    expect(done).toStrictEqual([
      ['ann', ['audio']],
      ['bob', 'TOKEN_REVOKED'],
      ['eve', []],
    ]);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('a relay reports what a session used, in each of its tiers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-readme-'));
  const service = new FakeService();
  const openUsageReporter = (options: relaySdk.UsageReporterOptions) => {
    expect(options).toMatchObject({ key: { file: '/run/secrets/relay-key' }, spool: '/var/lib/relay/usage' });
    const key = { file: join(folder, 'key') };
    const spool = join(folder, 'spool');
    return relaySdk.openUsageReporter({ ...options, key, spool, fetch: service.fetch });
  };
  const log: string[] = [];
  try {
    await writeFile(join(folder, 'key'), 'svc_0123456789abcdef_secret\n');
    const application = {
      relaySdk: { ...relaySdk, openUsageReporter },
      log: (type: string) => log.push(type),
    };
    const { reporter, left } = await run(reporting, application, ['reporter', 'left']);
    expect([left, reporter.admitted]).toEqual([0, true]);
    expect(log).toContain('batch_accepted');
    expect(service.sums).toMatchObject({ egressBytes: 480_000, ingressBytes: 90_000 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the README names every code of JoinError', () => {
  const source = readFileSync(new URL('../../sdk/typescript/src/device/errors.ts', import.meta.url), 'utf8');
  const codes = [...source.matchAll(/(?:code: |\| )'([A-Z_]+)'/g)].map(([, code]) => code!);
  expect(codes).toHaveLength(15);
  for (const code of codes) expect(README).toContain(`\`${code}\``);
});

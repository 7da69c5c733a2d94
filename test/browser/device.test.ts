/** A device as a web page of another origin: its key, joins and renewals, and attempts to steal its token. */
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import {
  AdmissionRefused,
  type Attempt,
  createTokenVerifier,
  type TokenVerifier,
} from '../../sdk/typescript/src/relay/index.ts';
import { LOOKS, PUBLIC_URL, useBrowser } from '../support/browser.ts';
import { createCredential, join, newDevice } from '../support/devices.ts';
import { startSdkPage } from '../support/sdk-page.ts';
import { useService } from '../support/service.ts';

const RELAY = { url: 'https://relay.example/connect', method: 'CONNECT' };

const SCRIPT = new URL('device-page.js', import.meta.url);
const [kiosk, stranger] = [await startSdkPage(SCRIPT), await startSdkPage(SCRIPT)];
const app = useService({ publicUrl: PUBLIC_URL, joinOrigins: [kiosk.origin] });
const browser = useBrowser(app);
afterAll(() => Promise.all([kiosk.close(), stranger.close()]));

/** The page in its own browser profile. */
async function openProfile(origin = kiosk.origin) {
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.clock.install();
  await page.goto(origin);
  await ready(page);
  return { page, complaints };
}

async function ready(page: Page): Promise<void> {
  await page.waitForFunction('globalThis.kiosk');
}

async function ask<T>(page: Page, step: string, argument?: unknown): Promise<T> {
  return await page.evaluate(`kiosk.${step}(${JSON.stringify(argument)})`);
}

interface PageGrant {
  readonly token: string;
  readonly device: string;
  readonly username: string;
  readonly expiresAt: Date;
}

/** The relay's verdict when the page answers its challenge, with the step `prove` or `pretend`. */
async function answer(relay: TokenVerifier, page: Page, token: string, step = 'prove', more = {}) {
  const challenge = relay.challenge();
  const proof = await ask<string>(page, step, { token, challenge, ...RELAY, ...more });
  const dtlsFingerprint = await page.evaluate<string>('kiosk.dtlsFingerprint');
  return { token, proof, challenge, dtlsFingerprint, ...RELAY };
}

const createRelay = () =>
  createTokenVerifier({
    issuer: PUBLIC_URL,
    audience: 'relay:service.test',
    jwksUrl: `${app.url}/.well-known/jwks.json`,
  });

async function refusalBy(relay: TokenVerifier, attempt: Attempt): Promise<string> {
  const thrown = await relay.verify(attempt).catch((error: unknown) => error);
  return thrown instanceof AdmissionRefused ? thrown.code : `no refusal: ${JSON.stringify(thrown)}`;
}

/** The number of preflights that the service has answered. */
async function countPreflights(): Promise<number> {
  const { values } = await app.service.deps.metrics.requests.get();
  return values
    .filter(({ labels }) => labels.method === 'OPTIONS' && labels.route === '/join' && labels.status === 204)
    .reduce((sum, { value }) => sum + value, 0);
}

const requestWith = (credential: string) => ({ url: app.url, credential, username: 'Ann', room: 'lobby' });

describe('a page of an origin that may join', () => {
  test('makes a lasting key, joins after a preflight, and is admitted by a relay', async () => {
    const { tenant, credential } = await newDevice(app, { publish: ['audio'] });
    const { page, complaints } = await openProfile();
    const thumbprint = await page.evaluate<string>('kiosk.thumbprint');
    expect(await ask(page, 'exportPrivateKey')).toEqual(['rejected', 'rejected']);

    const preflights = await countPreflights();
    const grant = await ask<PageGrant>(page, 'join', requestWith(credential));
    expect(grant).toMatchObject({ device: thumbprint, username: 'ann' });
    expect(await countPreflights()).toBe(preflights + 1);

    const relay = createRelay();
    expect(await relay.verify(await answer(relay, page, grant.token))).toMatchObject({
      tenant: tenant.id,
      username: 'ann',
      room: 'lobby',
      deviceThumbprint: thumbprint,
      expiresAt: grant.expiresAt,
    });

    await page.reload();
    await ready(page);
    expect(await page.evaluate('kiosk.thumbprint')).toBe(thumbprint);
    const again = await answer(relay, page, grant.token);
    expect((await relay.verify(again)).deviceThumbprint).toBe(thumbprint);
    expect(complaints).toEqual([]);
  });

  test('renews half-way through the token, and the relay continues with the new one', async () => {
    const { credential } = await newDevice(app);
    const { page, complaints } = await openProfile();
    const relay = createRelay();
    const { token } = await ask<PageGrant>(page, 'join', requestWith(credential));
    const admission = await relay.verify(await answer(relay, page, token));

    await page.clock.fastForward('04:50');
    expect(await page.evaluate('kiosk.grants.length')).toBe(1);
    await page.clock.fastForward('00:20');
    await page.waitForFunction('kiosk.grants.length === 2');
    const renewed = await page.evaluate<PageGrant>('kiosk.grants[1]');
    expect(renewed.token).not.toBe(token);
    expect(await relay.renew(admission, await answer(relay, page, renewed.token))).toMatchObject({
      deviceThumbprint: admission.deviceThumbprint,
      roomUid: admission.roomUid,
      expiresAt: renewed.expiresAt,
    });
    expect(complaints).toEqual([]);
  });

  test('cannot use the token of another profile, whatever it signs', async () => {
    const { tenant, credential } = await newDevice(app);
    const relay = createRelay();
    const { page: owner } = await openProfile();
    const { page: thief } = await openProfile();
    const grant = await ask<PageGrant>(owner, 'join', requestWith(credential));

    expect(await refusalBy(relay, await answer(relay, thief, grant.token))).toBe('PROOF_OTHER_DEVICE');
    const publicJwk = await owner.evaluate('kiosk.publicJwk');
    const forged = await answer(relay, thief, grant.token, 'pretend', { publicJwk });
    expect(await refusalBy(relay, forged)).toBe('PROOF_BAD_SIGNATURE');
    const overheard = await answer(relay, owner, grant.token);
    const replayed = { ...overheard, challenge: relay.challenge() };
    expect(await refusalBy(relay, replayed)).toBe('PROOF_OTHER_CHALLENGE');
    const dtlsFingerprint = await thief.evaluate<string>('kiosk.dtlsFingerprint');
    expect(await refusalBy(relay, { ...overheard, dtlsFingerprint })).toBe('DTLS_OTHER_CERTIFICATE');

    const ofItsOwn = await createCredential(app, tenant);
    const other = await ask<PageGrant>(thief, 'join', requestWith(ofItsOwn.credential));
    expect(other.device).toBe(await thief.evaluate('kiosk.thumbprint'));
    expect(other.device).not.toBe(grant.device);
    expect((await relay.verify(await answer(relay, thief, other.token))).deviceThumbprint).toBe(other.device);
  });

  test('can read the refusal and its Retry-After', async () => {
    const { id, credential } = await newDevice(app);
    const { page } = await openProfile();
    const unknown = requestWith(`dev_0123456789abcdef_${'A'.repeat(43)}`);
    expect(await ask(page, 'refusal', unknown)).toMatchObject({
      code: 'UNAUTHENTICATED',
      status: 401,
      message: 'invalid api key',
    });
    await join(app, credential);
    await app.service.deps.db.query('update rate_limits set points = 30 where key = $1', [`join:${id}`]);
    const { code, retryAfterSeconds } = await ask<{ code: string; retryAfterSeconds: number }>(
      page,
      'refusal',
      requestWith(credential),
    );
    expect(code).toBe('RATE_LIMITED');
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
  });
});

test('a page of any other origin is stopped at the preflight, without a join, and learns why', async () => {
  const { credential } = await newDevice(app);
  const { page } = await openProfile(stranger.origin);
  const preflights = await countPreflights();
  expect(await ask(page, 'refusal', { ...requestWith(credential), room: 'stranger' })).toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: `the join endpoint does not allow pages of ${stranger.origin}`,
  });
  // One for each of the two attempts: the reading of the keys in between needs none.
  expect(await countPreflights()).toBe(preflights + 2);
  const { rows } = await app.service.deps.db.query(`select 1 from rooms where name = 'stranger'`);
  expect(rows).toHaveLength(0);
});

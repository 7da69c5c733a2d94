/** What the service knows of the issuer, and for how long. The flow of a log-in: test/doors/console/oidc.test.ts. */
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { Issuer, type IssuerRequest } from '../../../src/access/oidc/issuer.ts';
import { isStateOf, textsOf } from '../../../src/access/oidc/login-attempt.ts';
import { newSecret } from '../../../src/access/sessions/session.ts';
import { CLIENT_SECRET, type IssuerMood, startIssuer, verified } from '../../support/issuer.ts';

const server = await startIssuer();
const texts = textsOf(newSecret().plaintext);
const REQUEST: IssuerRequest = {
  redirectUri: 'http://service.test/console/login/oidc/callback',
  texts,
  again: false,
  email: undefined,
  wantsGroups: false,
};
const lookups = () => server.asked.filter((path) => path.startsWith('/.well-known')).length;

afterEach(() => {
  Object.assign(server, { mood: 'well', tokenMood: 'well', spoiled: {} });
  server.asked.length = 0;
  vi.restoreAllMocks();
});
afterAll(async () => {
  await server.close();
});

describe('what the issuer says of itself', () => {
  test('is asked for once by log-ins at the same time, and kept for an hour', async () => {
    const issuer = new Issuer(server.config);
    await Promise.all(Array.from({ length: 20 }, () => issuer.authorizationUrl(REQUEST)));
    expect(lookups()).toBe(1);
    const at = performance.now();
    const clock = vi.spyOn(performance, 'now');
    clock.mockReturnValue(at + 3_590_000);
    await issuer.authorizationUrl(REQUEST);
    expect(lookups()).toBe(1);
    clock.mockReturnValue(at + 3_700_000);
    await Promise.all(Array.from({ length: 20 }, () => issuer.authorizationUrl(REQUEST)));
    expect(lookups()).toBe(2);
  });

  test('is asked for again after a failure', async () => {
    const issuer = new Issuer(server.config);
    server.mood = 'down';
    await expect(issuer.authorizationUrl(REQUEST)).rejects.toMatchObject({ kind: 'unavailable' });
    server.mood = 'well';
    expect(await issuer.authorizationUrl(REQUEST)).toContain(`${server.url}/authorize?`);
  });
});

describe('an issuer that does not answer well', () => {
  const MOODS: readonly IssuerMood[] = ['down', 'slow', 'garbage', 'foreign', 'empty'];

  test.each(MOODS)('%s, at the beginning', async (mood) => {
    server.mood = mood;
    const issuer = new Issuer(server.config, 0.2);
    await expect(issuer.authorizationUrl(REQUEST)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test.each([
    ['down', 'unavailable'],
    ['slow', 'unavailable'],
    ['garbage', 'unavailable'],
    ['empty', 'invalid'],
  ] as const)('%s, at the end: %s', async (mood, kind) => {
    // Long enough for what precedes: a slow machine answers, too.
    const issuer = new Issuer(server.config, 2);
    const back = server.logIn(await issuer.authorizationUrl(REQUEST), verified('ann@example.com'));
    server.tokenMood = mood;
    await expect(issuer.redeem(back, texts, false)).rejects.toMatchObject({ kind });
  });

  test('nowhere: the reason is in the log, without a secret', async () => {
    const issuer = new Issuer({ ...server.config, clientSecret: 'other' });
    const back = server.logIn(await issuer.authorizationUrl(REQUEST), verified('ann@example.com'));
    const failed = issuer.redeem(back, texts, false);
    await expect(failed).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('invalid_client'),
    });
    const message = await failed.catch(String);
    for (const secret of [CLIENT_SECRET, 'ann@example.com', back.searchParams.get('code')!, texts.verifier]) {
      expect(message).not.toContain(secret);
    }
  });
});

describe('the texts of an attempt', () => {
  test('differ from each other and from those of any other, and are the same each time', () => {
    const { plaintext } = newSecret();
    const all = [...Object.values(textsOf(plaintext)), ...Object.values(texts), plaintext];
    expect(new Set(all).size).toBe(7);
    expect(textsOf(plaintext)).toEqual(textsOf(plaintext));
    for (const text of all) expect(text).toMatch(/^[\w-]{43}$/);
  });

  test('the state is that of its secret only', () => {
    const { plaintext } = newSecret();
    const { state, nonce } = textsOf(plaintext);
    expect(isStateOf(plaintext, state)).toBe(true);
    for (const other of ['', 'x', nonce, texts.state, `${state}x`, 'ü'.repeat(43)]) {
      expect(isStateOf(plaintext, other), other).toBe(false);
    }
  });
});

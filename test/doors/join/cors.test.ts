/** Joins from web pages, and preflights. */
import { describe, expect, test } from 'vitest';
import { expectJoined, expectText, join, newDevice } from '../../support/devices.ts';
import { ask, useService } from '../../support/service.ts';

const ORIGIN = 'https://app.example.com';
const preflight = (app: { url: string }, origin: string) =>
  ask(`${app.url}/join`, 'OPTIONS', {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
const corsHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

describe('with a list of origins', () => {
  const app = useService({ joinOrigins: [ORIGIN, 'http://localhost:5173'] });
  const shared = {
    'access-control-allow-origin': ORIGIN,
    'access-control-expose-headers': 'Retry-After, X-Request-Id',
    vary: 'Origin',
  };

  test('a preflight says what may be asked', async () => {
    const answer = await preflight(app, ORIGIN);
    expect([answer.status, answer.text, answer.headers.get('allow')]).toStrictEqual([
      204,
      '',
      'OPTIONS, POST',
    ]);
    expect(corsHeaders(answer.headers)).toStrictEqual({
      ...shared,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'Authorization, Content-Type',
      'access-control-max-age': '7200',
    });
  });

  test('a page may read answers, good and bad', async () => {
    const device = await newDevice(app);
    const headers = { origin: ORIGIN };
    const good = await join(app, device.credential, {}, { headers });
    expectJoined(good);
    const bad = await join(app, undefined, {}, { headers });
    expectText(bad, 401, 'invalid api key');
    const wrongMethod = await ask(`${app.url}/join`, 'GET', { headers });
    expectText(wrongMethod, 405, 'method not allowed');
    expect(wrongMethod.headers.get('allow')).toBe('OPTIONS, POST');
    for (const answer of [good, bad, wrongMethod]) expect(corsHeaders(answer.headers)).toStrictEqual(shared);
  });

  test.each([
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://APP.example.com',
    'null',
    'https://app.example.com:8443',
  ])('not the page of %s', async (origin) => {
    const answers = [await preflight(app, origin), await join(app, undefined, {}, { headers: { origin } })];
    for (const answer of answers) expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(answers[1]!.headers.get('vary')).toBe('Origin');
  });

  test('no other route allows it', async () => {
    const answer = await ask(`${app.url}/v1/keys`, 'OPTIONS', { headers: { origin: ORIGIN } });
    expect([answer.status, corsHeaders(answer.headers)]).toStrictEqual([405, {}]);
  });
});

describe('with *', () => {
  const app = useService({ joinOrigins: ['*'] });

  test('every page may join', async () => {
    for (const origin of [ORIGIN, 'null']) {
      const answer = await preflight(app, origin);
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      const refused = await join(app, undefined, {}, { headers: { origin } });
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).toStrictEqual([401, '*']);
    }
  });
});

describe('without origins', () => {
  const app = useService();

  test('pages may not join, devices may', async () => {
    const answer = await preflight(app, ORIGIN);
    expectText(answer, 405, 'method not allowed');
    const device = await newDevice(app);
    const joined = await join(app, device.credential, {}, { headers: { origin: ORIGIN } });
    expectJoined(joined);
    for (const each of [answer, joined]) expect(corsHeaders(each.headers)).toStrictEqual({});
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { sealSubscription } from '../../../src/outward/mail/unsubscribe-token.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectCommonHeaders } from './support.ts';

const app = useService({ payments: false });
let tenant: TestTenant;

beforeEach(async () => {
  tenant = await app.signUp({ name: '<img src=x> & Söhne' });
});

const tokenOf = (address = 'Ada@example.com', of = tenant) =>
  sealSubscription(app.service.deps.box, { tenant: idOf(of), address });
const page = (token: string, method = 'GET', undo = '') =>
  app.request(method, `/unsubscribe/${token}${undo}`);
const unsubscribed = async (of = tenant) =>
  (await app.request('GET', '/v1/mail', { key: of.key })).json.unsubscribed;

describe('the page', () => {
  test('asks, and changes nothing', async () => {
    const answer = await page(tokenOf());
    expect(answer.status).toBe(200);
    expectCommonHeaders(answer);
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.text).toContain('Unsubscribe from alerts?');
    expect(answer.text).toContain('&lt;img src=x&gt; &amp; Söhne');
    await page(tokenOf(), 'HEAD');
    expect(await unsubscribed()).toEqual([]);
  });

  test('unsubscribes one address of one tenant, and undoes it', async () => {
    const other = await app.signUp();
    expect((await page(tokenOf(), 'POST')).text).toContain('You are unsubscribed');
    expect(await unsubscribed()).toEqual(['ada@example.com']);
    expect(await unsubscribed(other)).toEqual([]);
    expect((await page(tokenOf())).text).toContain('Get alerts again');
    await page(tokenOf(), 'POST');
    expect(await unsubscribed()).toEqual(['ada@example.com']);
    expect((await page(tokenOf(), 'POST', '/undo')).text).toContain('Unsubscribe from alerts?');
    expect(await unsubscribed()).toEqual([]);
  });

  test.each([
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--',
    ],
    ['application/json', '{'],
    ['text/plain', ''],
  ])('takes one click, sent as %s', async (type, raw) => {
    const answer = await app.request('POST', `/unsubscribe/${tokenOf()}`, {
      raw,
      headers: { 'content-type': type },
    });
    expect(answer.status).toBe(200);
    expect(await unsubscribed()).toEqual(['ada@example.com']);
  });
});

describe('a token that is not ours', () => {
  const forgeries: Record<string, () => string> = {
    'too short': () => 'x',
    'of other characters': () => '%00%0a',
    'changed in one bit': () => {
      const bytes = Buffer.from(tokenOf(), 'base64url');
      bytes[bytes.length - 20]! ^= 1;
      return bytes.toString('base64url');
    },
    longer: () => `${tokenOf()}AA`,
    padded: () => `${tokenOf()}==`,
    'sealed by another key': () =>
      sealSubscription(new SecretBox(Buffer.alloc(32, 7)), { tenant: idOf(tenant), address: 'a@b.co' }),
    'sealed for another purpose': () =>
      app.service.deps.box.seal(Buffer.from(`${tenant.id} a@b.co`), 'something else').toString('base64url'),
    'of no tenant': () =>
      sealSubscription(app.service.deps.box, { tenant: (idOf(tenant) + 1n) as never, address: 'a@b.co' }),
  };

  test.each(Object.keys(forgeries))('%s, is not found', async (name) => {
    for (const [method, undo] of [['GET'], ['POST'], ['POST', '/undo']] as const) {
      const answer = await page(forgeries[name]!(), method, undo);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.text).toContain('This link is not valid');
    }
    expect(await unsubscribed()).toEqual([]);
  });
});

/** The console of operators with several processes: the first one serves it. */
import { describe, expect, test } from 'vitest';
import { cookieOf } from '../../support/console.ts';
import { useDatabase } from '../../support/database.ts';
import { ask } from '../../support/service.ts';
import { runAdmin } from '../admin/support.ts';
import { startMain } from './support.ts';

const database = useDatabase();
const OPS_URL = 'http://ops.test';

describe('with two workers', () => {
  test('an operator logs in, verifies, and the service still ends', async () => {
    const started = await startMain({ DATABASE_URL: database.url, OPS_URL });
    const made = await runAdmin({ DATABASE_URL: database.url, OPS_URL }, 'console', 'operator');
    expect(made.code).toBe(0);
    const send = (path: string, cookie = '') =>
      ask(`${started.opsUrl}${path}`, 'POST', {
        raw: '',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: OPS_URL, cookie },
      });
    const cookie = cookieOf(await send(new URL(made.out.trim()).pathname));
    const get = async (path: string) =>
      (await ask(`${started.opsUrl}${path}`, 'GET', { headers: { cookie } })).text;
    expect(await get('/console')).toContain('<p class="figure">ready</p>');
    expect((await send('/console/verify', cookie)).status).toBe(303);
    await expect.poll(() => get('/console/verify')).toContain('Nothing differs');
    started.child.kill('SIGTERM');
    expect(await started.exited).toEqual([0, null]);
  });

  test('every process knows the issuer, and none looks it up before somebody logs in', async () => {
    const { url, opsUrl } = await startMain({
      DATABASE_URL: database.url,
      OIDC_ISSUER: 'https://id.invalid',
      OIDC_CLIENT_ID: 'boxoffice',
      OIDC_CLIENT_SECRET: 'secret',
      OIDC_OPERATORS_GROUP: 'operators',
    });
    for (const console of [url, opsUrl]) {
      const { text } = await ask(`${console}/console/login`, 'GET');
      expect(text).toContain('Log in with <bdi>id.invalid</bdi>');
    }
  });
});

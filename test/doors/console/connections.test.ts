/** How many connections of the database the pages of one tenant take, and those of strangers. */
import { expect, test } from 'vitest';
import { newSecret } from '../../../src/access/sessions/session.ts';
import { COOKIE, getPage, makeMember } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

/** Jobs of the service take connections of the same pool, and so few may wait, whatever pages do. */
const JOBS_MAX = 8;

/** The most statements that waited for a connection while all of `cookies` asked for a page. */
async function mostWaiting(path: string, cookies: readonly string[]): Promise<number> {
  const pool = db();
  // While the pool opens connections, statements wait although there is room.
  const all = await Promise.all(Array.from({ length: pool.options.max! }, () => pool.connect()));
  for (const client of all) client.release();
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, pool.waitingCount);
  }, 1);
  await Promise.all(cookies.map((cookie) => getPage(app, path, cookie)));
  clearInterval(look);
  return most;
}

test('overviews of one tenant leave some to others', async () => {
  const { cookie } = await makeMember(db(), idOf(await app.paidTenant()));
  expect(await mostWaiting('/console', Array(40).fill(cookie))).toBeLessThan(JOBS_MAX);
});

test('so do strangers with cookies that they made up', async () => {
  const cookies = Array.from({ length: 100 }, () => `${COOKIE}=${newSecret().plaintext}`);
  expect(await mostWaiting('/console/nowhere', cookies)).toBeLessThan(JOBS_MAX);
});

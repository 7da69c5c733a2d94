/** How many connections of the database the pages of one tenant take, and those of strangers. */
import { expect, test } from 'vitest';
import { newSecret } from '../../../src/access/sessions/session.ts';
import { COOKIE, getPage, makeMember } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

/** The most connections that were busy while all of `cookies` asked for a page. */
async function mostBusy(path: string, cookies: readonly string[]): Promise<number> {
  const pool = db();
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, pool.totalCount - pool.idleCount);
  }, 1);
  await Promise.all(cookies.map((cookie) => getPage(app, path, cookie)));
  clearInterval(look);
  return most;
}

test('overviews of one tenant leave some to others', async () => {
  const { cookie } = await makeMember(db(), idOf(await app.paidTenant()));
  expect(await mostBusy('/console', Array(40).fill(cookie))).toBeLessThan(db().options.max!);
});

test('so do strangers with cookies that they made up', async () => {
  const cookies = Array.from({ length: 100 }, () => `${COOKIE}=${newSecret().plaintext}`);
  expect(await mostBusy('/console/nowhere', cookies)).toBeLessThan(8);
});

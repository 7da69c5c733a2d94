/** Links to log in, while the service is killed: each that was answered arrives at least once, and works. */
import { expect, test, vi } from 'vitest';
import { hashSecret } from '../../../src/access/sessions/session.ts';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { useChildService } from '../../support/child-service.ts';
import { makeMember } from '../../support/console.ts';
import { useDatabase } from '../../support/database.ts';
import { ask } from '../../support/service.ts';
import { makeTenant } from '../../support/tenants.ts';
import { useSmtp } from './smtp.ts';

const ROUNDS = 6;
const LANES = 3;

const database = useDatabase();
const smtp = useSmtp();
const service = useChildService(database, smtp);

/** Returns whether the answer came. */
async function askForLink(email: string): Promise<boolean> {
  try {
    const answer = await ask(`${service.url}/console/login`, 'POST', {
      raw: new URLSearchParams({ email }).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'http://service.test',
        'sec-fetch-site': 'same-origin',
      },
    });
    expect(answer.status, answer.text).toBe(200);
    return true;
  } catch (error) {
    if ((error as Error).name === 'AssertionError') throw error;
    return false;
  }
}

/** What waits for the lease of a dead process, or for another attempt, is due now. */
const hurry = () => database.pool.query(`update mails set next_at = now() where state = 'waiting'`);

const until = (work: () => Promise<unknown>) => vi.waitFor(work, { timeout: 60_000, interval: 5 });

test('a mail that was being sent when the process was killed is sent by the next one', async () => {
  const tenant = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
  const { email } = await makeMember(database.pool, tenant);
  await service.start();
  smtp.behavior = 'hang';
  expect(await askForLink(email)).toBe(true);
  await until(async () => expect(smtp.received).toHaveLength(1));
  await service.kill();
  smtp.behavior = 'take';
  const { rows } = await database.pool.query(
    `select state, sealed is not null as "hasSecret", next_at > now() as "isLeased" from mails where address = $1`,
    [email],
  );
  expect(rows).toEqual([{ state: 'waiting', hasSecret: true, isLeased: true }]);
  await service.start();
  await hurry();
  await until(async () => expect(smtp.received).toHaveLength(2));
  const ids = smtp.received.map(({ source }) => /^Message-ID: (\S+)/im.exec(source)?.[1]);
  expect(ids[0]).toMatch(/^<mail_/);
  expect(ids[1]).toBe(ids[0]);
});

test('no link that was answered is lost', { timeout: 600_000 }, async () => {
  const tenant = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
  const answered: string[] = [];
  let asked = 0;
  await service.start();
  for (let round = 0; round < ROUNDS; round += 1) {
    // The first page loads the console, which would take longer than the round.
    await ask(`${service.url}/console/login`, 'GET');
    // The limit of one client would end the test.
    await database.pool.query('delete from rate_limits');
    const lane = async () => {
      // Fewer than the limit of one client.
      for (let at = 0; at < 6; at += 1) {
        const { email } = await makeMember(database.pool, tenant);
        asked += 1;
        if (!(await askForLink(email))) return;
        answered.push(email);
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    const due = answered.length + 2 + round;
    await until(async () => expect(answered.length).toBeGreaterThanOrEqual(due));
    await service.kill();
    await Promise.all(lanes);
    await service.start();
  }
  expect(answered.length).toBeGreaterThan(ROUNDS);
  expect(answered.length).toBeLessThan(asked);

  await hurry();
  await until(async () => {
    const { rows } = await database.pool.query(`select from mails where state = 'waiting'`);
    expect(rows).toEqual([]);
  });
  for (const email of answered) {
    const sources = smtp.received.filter(({ to }) => to[0] === email).map(({ source }) => source);
    expect(sources.length, email).toBeGreaterThanOrEqual(1);
    const [, secret = ''] = /\/console\/login\/([\w-]{43})/.exec(sources[0]!.replace(/=\r\n/g, '')) ?? [];
    const { rows } = await database.pool.query('select email from login_links where hash = $1', [
      hashSecret(secret),
    ]);
    expect(rows).toEqual([{ email }]);
  }
  const { rows } = await database.pool.query('select from mails where sealed is not null');
  expect(rows).toEqual([]);
});

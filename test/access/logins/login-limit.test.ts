import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  ATTEMPTS_PER_MINUTE,
  LOGIN_MAIL_GAP_MAX_MINUTES,
  LOGIN_MAIL_GAPS,
  LOGIN_MAILS_PER_HOUR,
  LOGIN_REQUESTS_PER_HOUR,
  LoginLimit,
  PASSKEY_REQUESTS_PER_MINUTE,
  WRONG_LINKS_PER_MINUTE,
  WRONG_PASSKEYS_PER_MINUTE,
} from '../../../src/access/logins/login-limit.ts';
import { LINK_MINUTES } from '../../../src/access/logins/login-link.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

let networks = 0;
/** A network that asked for nothing so far. */
const newNetwork = () => {
  networks += 1;
  return `2001:db8:${networks.toString(16)}::1`;
};
/** Two processes. */
const limits = () => [new LoginLimit(database.pool), new LoginLimit(database.pool)] as const;
const askOften = async (limit: LoginLimit, email: string, times: number) => {
  const waits: (number | undefined)[] = [];
  for (let at = 0; at < times; at += 1) waits.push(await limit.countRequest(newNetwork(), email));
  return waits;
};
/** As if so many seconds had passed. */
const pass = (seconds: number) =>
  database.pool.query('update rate_limits set expire = expire - $1', [seconds * 1000]);

describe('mails to one address', () => {
  test('are slowed by strangers of many networks, and never stopped', async () => {
    const [limit, other] = limits();
    const waits = await askOften(limit, 'ada@example.com', 60);
    expect(waits.slice(0, 11)).toEqual(Array.from({ length: 11 }, () => undefined));
    expect(waits.slice(11, 20).every((wait) => wait !== undefined && wait <= 60)).toBe(true);
    expect(waits.slice(41).every((wait) => wait !== undefined && wait > 300 && wait <= 600)).toBe(true);
    for (let hour = 0; hour < 6; hour += 1) {
      await pass(LOGIN_MAIL_GAP_MAX_MINUTES * 60);
      expect(await other.countRequest(newNetwork(), 'ada@example.com')).toBeUndefined();
      expect(await limit.countRequest(newNetwork(), 'ada@example.com')).toBeGreaterThan(0);
    }
  });

  test('leave a link that works: the longest gap is shorter than the life of a link', () => {
    const gaps = LOGIN_MAIL_GAPS.map(({ seconds }) => seconds);
    expect(LOGIN_MAIL_GAP_MAX_MINUTES).toBeLessThan(LINK_MINUTES);
    expect(gaps).toEqual(gaps.toSorted((one, next) => one - next));
  });

  test.each([
    ['an IPv4 address', '198.51.100.7', '198.51.100.7'],
    ['a /64 of IPv6', '2001:db8:ffff:1::1', '2001:db8:ffff:1:a:b:c:d'],
  ])('are few an hour for one network: %s', async (_, address, same) => {
    const email = `${same}@example.com`;
    const [limit, other] = limits();
    for (let at = 0; at < LOGIN_MAILS_PER_HOUR; at += 1)
      expect(await (at % 2 ? limit : other).countRequest(address, email)).toBeUndefined();
    await expect(other.countRequest(same, email)).rejects.toMatchObject({
      kind: 'too_many_logins',
      message: expect.stringContaining('from your network'),
      retryAfter: expect.closeTo(3600, -2),
    });
    expect(await limit.countRequest(newNetwork(), email)).toBeUndefined();
    expect(await limit.countRequest(address, 'somebody-else@example.com')).toBeUndefined();
    await pass(3600);
    expect(await limit.countRequest(address, email)).toBeUndefined();
  });
});

test('one network asks so often an hour, for whatever addresses', async () => {
  const [limit, other] = limits();
  for (let at = 0; at < LOGIN_REQUESTS_PER_HOUR; at += 1)
    expect(await (at % 2 ? limit : other).countRequest('192.0.2.9', `${at}@example.com`)).toBeUndefined();
  const last = limit.countRequest('192.0.2.9', 'last@example.com');
  await expect(last).rejects.toMatchObject({ kind: 'too_many_logins' });
});

test.each([
  `A client asks for ${LOGIN_MAILS_PER_HOUR} links an hour for one address, and for ${LOGIN_REQUESTS_PER_HOUR} in all.`,
  `A client tries ${WRONG_LINKS_PER_MINUTE} wrong links and ${WRONG_PASSKEYS_PER_MINUTE} wrong passkeys a minute.`,
  `A client begins ${PASSKEY_REQUESTS_PER_MINUTE} log-ins with a passkey and ${ATTEMPTS_PER_MINUTE} with the issuer a minute.`,
])('docs/console.md says: %s', (words) => {
  const page = readFileSync(new URL('../../../docs/console.md', import.meta.url), 'utf8');
  expect(page.replaceAll('\n', ' ')).toContain(words);
});

/** What a request for a link does must not tell whether a member has the address. */
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLogin } from '../../../src/access/logins/request-login.ts';
import { depsOn } from '../../control/watchdogs/support.ts';
import { makeMember } from '../../support/console.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

test('the same statements run for an address that nobody has, and no mail is written', async () => {
  const deps = depsOn(database.pool);
  const { email } = await makeMember(database.pool, await makeTenant(database.pool));
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const seal = vi.spyOn(deps.box, 'seal');
  const statementsOf = async (address: string) => {
    query.mockClear();
    await requestLogin(deps, { email: address }, '203.0.113.1');
    return query.mock.calls.map(([statement]) => (statement as { name?: string }).name ?? String(statement));
  };
  // The first one opens connections.
  await statementsOf(email);
  const known = await statementsOf(email);
  const unknown = await statementsOf('stranger@example.com');
  expect(known).toContain('insert-console-mail');
  expect(unknown).toEqual(known);
  expect(seal).toHaveBeenCalledTimes(3);
  const { rows } = await database.pool.query('select distinct address from mails');
  expect(rows).toEqual([{ address: email }]);
});

test('a link and its mail come together or not at all', async () => {
  const deps = depsOn(database.pool);
  const { email } = await makeMember(database.pool, await makeTenant(database.pool));
  const broken = { write: () => Promise.reject(new Error('too late')), wake: () => {} };
  await expect(requestLogin({ ...deps, consoleMails: broken }, { email }, '203.0.113.2')).rejects.toThrow();
  const { rows } = await database.pool.query('select from login_links where email = $1', [email]);
  expect(rows).toEqual([]);
});

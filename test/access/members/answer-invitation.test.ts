import { describe, expect, test } from 'vitest';
import { acceptInvitation, declineInvitation } from '../../../src/access/members/answer-invitation.ts';
import type { Member } from '../../../src/access/members/member.ts';
import { insertMember } from '../../../src/access/members/members.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const EMAIL = 'bo@example.com';

async function invited(status = 'active') {
  const tenant = await makeTenant(database.pool);
  await inTransaction(database.pool, (tx) => insertMember(tx, tenant, { email: EMAIL, role: 'viewer' }));
  await database.pool.query('update tenants set status = $2 where id = $1', [tenant, status]);
  return { tenant, email: EMAIL, address: '192.0.2.1' };
}

const answering = (answer: 'accept' | 'decline', to: Awaited<ReturnType<typeof invited>>) =>
  inTransaction<Member | undefined | boolean>(database.pool, (tx) =>
    answer === 'accept' ? acceptInvitation(tx, to) : declineInvitation(tx, to),
  );

const rowsOf = async ({ tenant }: Awaited<ReturnType<typeof invited>>) =>
  (
    await database.pool.query('select joined_at is not null as joined from members where tenant_id = $1', [
      tenant,
    ])
  ).rows;

describe('an invitation', () => {
  test('is answered once, of several answers at once', async () => {
    const [taken, left] = [await invited(), await invited()];
    const yes = await Promise.all(Array.from({ length: 5 }, () => answering('accept', taken)));
    expect(yes.filter((member) => member)).toMatchObject([{ email: EMAIL }]);
    expect(await rowsOf(taken)).toStrictEqual([{ joined: true }]);
    const no = await Promise.all(Array.from({ length: 5 }, () => answering('decline', left)));
    expect(no.filter((declined) => declined)).toHaveLength(1);
    expect(await rowsOf(left)).toStrictEqual([]);
  });

  test('that was accepted is not declined any more, nor the other way round', async () => {
    const [taken, left] = [await invited(), await invited()];
    await answering('accept', taken);
    expect(await answering('decline', taken)).toBe(false);
    expect(await rowsOf(taken)).toStrictEqual([{ joined: true }]);
    await answering('decline', left);
    expect(await answering('accept', left)).toBeUndefined();
  });

  test('to a tenant that was deleted is over', async () => {
    const to = await invited('deleted');
    expect(await answering('accept', to)).toBeUndefined();
    expect(await answering('decline', to)).toBe(false);
    expect(await rowsOf(to)).toStrictEqual([{ joined: false }]);
  });
});

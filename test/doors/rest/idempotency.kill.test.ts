/** A process killed between its commit and its answer. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { ask } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const ROUNDS = 6;
const LANES = 4;

const database = useDatabase();
const service = useChildService(database);

interface Wanted {
  readonly name: string;
  /** The answer, if it came. */
  plaintext?: string;
}

test('a repeated request gets the first plaintext, and work that was not done is done once', {
  timeout: 300_000,
}, async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const tenant = { id: signedUp.json.tenant, key: signedUp.json.api_key };
  await database.pool.query(`update tenants set limits = '{"api_keys": 100000}' where id = $1`, [
    idOf(tenant),
  ]);

  const create = async ({ name }: Wanted): Promise<string> => {
    const headers = { 'idempotency-key': `create ${name}`.replace(' ', '-') };
    const answer = await ask(`${service.url}/v1/keys`, 'POST', { key: tenant.key, body: { name }, headers });
    expect(answer.status, answer.text).toBe(201);
    return answer.json.api_key;
  };
  const all: Wanted[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const lane = async () => {
      for (;;) {
        const wanted: Wanted = { name: `key-${all.length}` };
        all.push(wanted);
        try {
          wanted.plaintext = await create(wanted);
        } catch {
          return;
        }
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    await wait(40 + round * 23);
    await service.kill();
    await Promise.all(lanes);
    await service.start();
  }
  expect(all.filter(({ plaintext }) => plaintext === undefined).length).toBeGreaterThanOrEqual(ROUNDS);

  for (const wanted of all) {
    const plaintext = await create(wanted);
    if (wanted.plaintext !== undefined) expect(plaintext).toBe(wanted.plaintext);
    const listed = await ask(`${service.url}/v1/keys`, 'GET', { key: plaintext });
    expect(listed.status).toBe(200);
  }
  const { rows } = await database.pool.query(
    `select name, count(*)::integer from api_keys where name like 'key-%' group by name`,
  );
  expect(rows.length).toBe(all.length);
  expect(rows.filter(({ count }) => count !== 1)).toStrictEqual([]);
});

import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkLedger } from '../../support/check-ledger.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { ask, usageRecord } from '../../support/service.ts';

const ROUNDS = 10;
const LANES = 4;

const database = useDatabase();
const service = useChildService(database);

interface Batch {
  readonly records: Record<string, unknown>[];
  /** The charged count of the answer, if there was one. */
  charged?: number;
}

async function storedOf(batch: Batch): Promise<number> {
  const ids = batch.records.map((record) => record.id);
  const { rows } = await database.pool.query('select count(*) from usage_records where id = any($1)', [ids]);
  return Number(rows[0].count);
}

it('a process killed while charging loses no confirmed charge and duplicates none that is sent again', {
  timeout: 300_000,
}, async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const { api_key: key } = signedUp.json;
  const relay = await ask(`${service.url}/v1/keys`, 'POST', { key, body: { name: 'relay', kind: 'relay' } });
  const relayKey: string = relay.json.api_key;
  const report = (records: unknown[]) =>
    ask(`${service.url}/v1/usage`, 'POST', { key: relayKey, body: { records } });

  const batches: Batch[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const sent: Batch[] = [];
    const send = async () => {
      for (;;) {
        const batch: Batch = { records: Array.from({ length: 150 }, () => usageRecord({ room: 'stage' })) };
        sent.push(batch);
        try {
          const answer = await report(batch.records);
          if (answer.status === 200) batch.charged = answer.json.charged;
        } catch {
          return;
        }
      }
    };
    const lanes = Array.from({ length: LANES }, send);
    await wait(20 + round * 17);
    await service.kill();
    await Promise.all(lanes);
    for (const batch of sent) {
      if (batch.charged === undefined) continue;
      expect(batch.charged).toBe(150);
      expect(await storedOf(batch)).toBe(150);
    }
    expect(await checkLedger(database.pool)).toEqual([]);
    batches.push(...sent);
    await service.start();
  }
  expect(batches.filter((batch) => batch.charged === undefined).length).toBeGreaterThanOrEqual(ROUNDS);

  for (const batch of batches) {
    const stored = await storedOf(batch);
    expect([0, 150]).toContain(stored);
    const answer = await report(batch.records);
    expect(answer.json).toMatchObject({ charged: 150 - stored, duplicates: stored });
  }
  const { rows } = await database.pool.query('select count(*) from usage_records');
  expect(Number(rows[0].count)).toBe(batches.length * 150);
  expect(await checkLedger(database.pool)).toEqual([]);
});

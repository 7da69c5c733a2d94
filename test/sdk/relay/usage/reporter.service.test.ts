import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  openUsageReporter,
  type UsageEvent,
  type UsageReporter,
} from '../../../../sdk/typescript/src/relay/usage/index.ts';
import { checkLedger } from '../../../support/check-ledger.ts';
import { useChildService } from '../../../support/child-service.ts';
import { useDatabase } from '../../../support/database.ts';
import { seeded } from '../../../support/seeded.ts';
import { ask } from '../../../support/service.ts';
import { usage } from './reporters.ts';

const RECORDS = 10_000;
const KILLS = 3;

const database = useDatabase();
const service = useChildService(database);
let reporter: UsageReporter | undefined;
let folder: string | undefined;

afterEach(async () => {
  await reporter?.close({ deadlineSeconds: 0 });
  await service.kill();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

it('10,000 records are charged once each by a service that is killed, and whose answers are cut', {
  timeout: 300_000,
}, async () => {
  await service.start();
  const { url } = service;
  const signedUp = await ask(`${url}/v1/signup`, 'POST', { body: { name: 'Ada', email: 'ada@example.com' } });
  const { api_key: key } = signedUp.json;
  const relay = await ask(`${url}/v1/keys`, 'POST', { key, body: { name: 'relay', kind: 'relay' } });

  const random = seeded(7);
  let requests = 0;
  let restarted = Promise.resolve();
  /** A network that loses requests and answers and cuts answers, while the service is killed in between. */
  const fetch: typeof globalThis.fetch = async (_, init) => {
    requests += 1;
    if (requests % 12 === 0 && requests <= 12 * KILLS) {
      const answer = globalThis.fetch(`${service.url}/v1/usage`, init);
      restarted = service.kill().then(service.start);
      return await answer;
    }
    await restarted;
    const luck = random();
    if (luck < 0.15) throw new TypeError('fetch failed');
    const answer = await globalThis.fetch(`${service.url}/v1/usage`, init);
    if (luck < 0.35) throw new TypeError('fetch failed');
    const text = await answer.text();
    return new Response(luck < 0.5 ? text.slice(0, text.length >> 1) : text, { status: answer.status });
  };

  folder = await mkdtemp(join(tmpdir(), 'usage-service-'));
  const events: UsageEvent[] = [];
  reporter = await openUsageReporter({
    url,
    key: relay.json.api_key,
    spool: folder,
    relayId: 'relay-7',
    batchRecords: 200,
    onEvent: (event) => events.push(event),
    random: () => random() / 100,
    fetch,
  });

  const measured = Array.from({ length: RECORDS }, (_, index) =>
    usage({
      room: 'Bühne 🎭',
      participant: `p-${index}`,
      seconds: Math.floor(random() * 61),
      egressBytes: Math.floor(random() * 1e8),
      ingressBytes: Math.floor(random() * 1e6),
    }),
  );
  const recording = measured.map((each) => reporter!.record(each));
  await reporter.sync();
  const ids = (await Promise.all(recording)).flat();
  expect(await reporter.close({ deadlineSeconds: 240 })).toEqual({ left: 0 });
  await restarted;

  const { rows } = await database.pool.query(
    `select id, seconds, egress_bytes, ingress_bytes, participant from usage_records`,
  );
  expect(rows.map((row) => row.id).sort()).toEqual(ids.sort());
  expect(new Set(rows.map((row) => row.participant)).size).toBe(RECORDS);
  const sum = (values: readonly unknown[]) =>
    values.reduce((total: bigint, value) => total + BigInt(value as string), 0n);
  expect(sum(rows.map((row) => row.seconds))).toBe(sum(measured.map((each) => each.seconds)));
  expect(sum(rows.map((row) => row.egress_bytes))).toBe(sum(measured.map((each) => each.egressBytes)));
  expect(sum(rows.map((row) => row.ingress_bytes))).toBe(sum(measured.map((each) => each.ingressBytes)));
  expect(await checkLedger(database.pool)).toEqual([]);
  const conflicts = await database.pool.query('select count(*) from usage_conflicts');
  expect(conflicts.rows).toEqual([{ count: 0n }]);

  const accepted = events.filter((event) => event.type === 'batch_accepted');
  expect(accepted.reduce((total, event) => total + event.charged + event.duplicates, 0)).toBe(RECORDS);
  expect(accepted.reduce((total, event) => total + event.duplicates, 0)).toBeGreaterThan(0);
  expect(requests).toBeGreaterThan(12 * KILLS);
  expect(events.filter((event) => event.type === 'admitted_changed').at(-1)).toMatchObject({
    admitted: false,
  });
});

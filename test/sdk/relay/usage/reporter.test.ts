import { describe, expect, it } from 'vitest';
import { store, usage, usages, useBench } from './reporters.ts';

const bench = useBench();
const until = (condition: () => unknown) => expect.poll(condition, { interval: 1 });

describe('close', () => {
  it('ends sessions, sends everything and leaves an empty folder', async () => {
    const reporter = await bench.open();
    const session = reporter.startSession({ participant: 'Ada', role: 'host', tier: 'audio' });
    session.add({ egressBytes: 5_000 });
    bench.clock.advance(7_000);
    void reporter.record(usage({ participant: 'Grace' }));
    expect(await reporter.close()).toEqual({ left: 0 });
    expect([...bench.service.charged.values()]).toMatchObject([
      { participant: 'Grace', seconds: 60 },
      { participant: 'Ada', seconds: 7, egress_bytes: 5_000 },
    ]);
    expect(await bench.files()).toEqual([]);
    expect(bench.clock.timers).toEqual([]);
  });

  it('tries until its deadline, and leaves the rest', async () => {
    const reporter = await bench.open({ batchRecords: 5 });
    await until(() => reporter.admitted).toBe(true);
    bench.service.faults.push(
      ...Array.from({ length: 100 }, () => ({ kind: 'answer', status: 503 }) as const),
    );
    await store(reporter, usages(12));
    await until(() => bench.eventsOf('send_failed').length).toBe(1);
    const closing = reporter.close({ deadlineSeconds: 3 });
    await until(() => bench.clock.timers.includes(3_000)).toBe(true);
    bench.clock.advance(500);
    await until(() => bench.eventsOf('send_failed').length).toBe(2);
    bench.clock.advance(1_000);
    await until(() => bench.eventsOf('send_failed').length).toBe(3);
    bench.clock.advance(1_500);
    expect(await closing).toEqual({ left: 12 });
    expect(bench.clock.timers).toEqual([]);
    expect(await bench.files()).toHaveLength(3);
  });

  it('aborts an unanswered request at the deadline; the next start repeats it', async () => {
    const first = await bench.open({ batchRecords: 2 });
    await until(() => first.admitted).toBe(true);
    bench.service.faults.push({ kind: 'hang' });
    const ids = await store(first, usages(2));
    await until(() => bench.service.inFlight).toBe(1);
    const closing = first.close({ deadlineSeconds: 1 });
    await until(() => bench.clock.timers.includes(1_000)).toBe(true);
    bench.clock.advance(1_000);
    expect(await closing).toEqual({ left: 2 });
    await bench.open({ batchRecords: 2 });
    await until(() => [...bench.service.charged.keys()]).toEqual(ids);
    expect(bench.service.batches[1]!.body).toBe(bench.service.batches[0]!.body);
  });

  it('does not wait for the answer to an empty batch', async () => {
    bench.service.faults.push({ kind: 'hang' });
    const reporter = await bench.open();
    await until(() => bench.service.inFlight).toBe(1);
    expect(await reporter.close()).toEqual({ left: 0 });
  });

  it('may be called twice', async () => {
    const reporter = await bench.open();
    expect(await Promise.all([reporter.close(), reporter.close()])).toEqual([{ left: 0 }, { left: 0 }]);
  });
});

describe('openUsageReporter', () => {
  it.each<[string, object]>([
    ['an id of the relay with a dot', { relayId: 'relay.7' }],
    ['an address that is none', { url: 'billing' }],
    ['an address of a file', { url: 'file:///etc' }],
    ['an address with a query', { url: 'https://billing.test/?x' }],
    ['an address with a fragment', { url: 'https://billing.test/#' }],
    ['an address with a user', { url: 'https://ann@billing.test' }],
    ['batches above the limit of records', { batchRecords: 5_001 }],
    ['batches above the limit of bytes', { batchBytes: 1024 * 1024 }],
    ['no interval', { intervalSeconds: 0 }],
    ['a wait that is no number', { batchSeconds: Number.NaN }],
  ])('refuses %s', async (_, options) => {
    await expect(bench.open(options)).rejects.toMatchObject({ code: 'invalid_options' });
    expect(await bench.files()).toEqual([]);
  });

  it.each([
    ['https://billing.test', 'https://billing.test/v1/usage'],
    ['https://billing.test/', 'https://billing.test/v1/usage'],
    ['http://127.0.0.1:8080/billing/', 'http://127.0.0.1:8080/billing/v1/usage'],
  ])('%s reports to %s', async (url, expected) => {
    const urls: unknown[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      urls.push(input);
      return bench.service.fetch(input, init);
    };
    await bench.open({ url, fetch });
    await until(() => urls).toEqual([expected]);
  });
});

it('two starts never create the same id', async () => {
  const ids = new Set<string>();
  for (let start = 0; start < 3; start += 1) {
    const reporter = await bench.open();
    for (const id of await store(reporter, usages(5))) ids.add(id);
    await reporter.close();
  }
  expect(ids.size).toBe(15);
  expect(bench.service.charged.size).toBe(15);
});

it('no event and no error quotes the key', async () => {
  bench.service.acceptKey = () => false;
  const reporter = await bench.open({ key: 'svc_secret', batchRecords: 1 });
  await store(reporter, [usage()]);
  await until(() => bench.eventsOf('key_refused').length).toBe(1);
  expect(JSON.stringify(bench.events)).not.toContain('svc_secret');
});

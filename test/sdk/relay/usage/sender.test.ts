import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { UsageReporter } from '../../../../sdk/typescript/src/relay/usage/reporter.ts';
import { seeded } from '../../../support/seeded.ts';
import { store, usage, usages, useBench } from './reporters.ts';
import type { Fault } from './usage-server.ts';

const bench = useBench();

const once = { interval: 1 };
/** Wait, without advancing time, until a condition holds. */
const until = (condition: () => unknown) => expect.poll(condition, once);
/** Advance time in steps until a condition holds. */
const pass = (stepMs: number, condition: () => unknown) =>
  expect.poll(() => {
    bench.clock.advance(stepMs);
    return condition();
  }, once);

/** A reporter after its first answer. */
async function openAndGreet(options: Parameters<typeof bench.open>[0] = {}): Promise<UsageReporter> {
  const reporter = await bench.open(options);
  await until(() => bench.service.received.length).toBe(1);
  await until(() => reporter.admitted).not.toBe('unknown');
  return reporter;
}

const answer = (status: number, text = '', headers = {}): Fault => ({
  kind: 'answer',
  status,
  text,
  headers,
});

describe('batches', () => {
  it('go out five seconds after their first record', async () => {
    const reporter = await openAndGreet();
    const ids = await store(reporter, usages(3));
    bench.clock.advance(4_999);
    expect(bench.service.batches).toEqual([]);
    bench.clock.advance(1);
    await until(() => bench.service.batches.length).toBe(1);
    expect(bench.service.batches[0]!.records.map((record) => record.id)).toEqual(ids);
    await until(() => reporter.pending).toEqual({ segments: 0, records: 0 });
    expect(await bench.files()).toEqual([]);
    expect(bench.eventsOf('batch_accepted')).toEqual([
      { type: 'batch_accepted', records: 3, charged: 3, duplicates: 0, unbilled: 0 },
    ]);
  });

  it('go out at once when they have enough records', async () => {
    const reporter = await openAndGreet({ batchRecords: 10 });
    await store(reporter, usages(25));
    await until(() => bench.service.batches.map((batch) => batch.records.length)).toEqual([10, 10]);
    bench.clock.advance(5_000);
    await until(() => bench.service.charged.size).toBe(25);
  });

  it('go out at once when they have enough bytes, however wide the characters', async () => {
    const reporter = await openAndGreet({ batchBytes: 5_000 });
    await store(reporter, usages(50, { room: '🎭界ß'.repeat(20) }));
    await pass(1_000, () => bench.service.charged.size).toBe(50);
    for (const { body } of bench.service.batches) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(5_000);
    expect(bench.service.batches.length).toBeLessThan(10);
  });

  it('never overlap', async () => {
    const reporter = await openAndGreet({ batchRecords: 5 });
    await store(reporter, usages(100));
    await until(() => bench.service.charged.size).toBe(100);
    expect(bench.service.inFlightMax).toBe(1);
  });

  it('of an exempt tenant are settled too', async () => {
    bench.service.exempt = true;
    const reporter = await openAndGreet({ batchRecords: 2 });
    await store(reporter, usages(2));
    await until(() => bench.eventsOf('batch_accepted')).toMatchObject([{ charged: 0, unbilled: 2 }]);
    await until(() => reporter.pending.records).toBe(0);
  });
});

describe('an attempt that failed', () => {
  const FAULTS: [string, Fault, object][] = [
    ['no connection', { kind: 'refuse_connection' }, { reason: 'network', status: undefined }],
    ['an answer that was lost', { kind: 'lose_answer' }, { reason: 'network' }],
    ['half an answer', { kind: 'cut_answer' }, { reason: 'unexpected_answer', status: 200 }],
    ['500', answer(500, '{"error":"internal error"}'), { reason: 'server_error', status: 500 }],
    ['503', answer(503), { reason: 'server_error', status: 503 }],
    ['200 of another server', answer(200, '<html>Log in</html>'), { reason: 'unexpected_answer' }],
    ['404', answer(404, '{"error":"not found"}'), { reason: 'unexpected_answer', status: 404 }],
    ['a redirect', answer(307, '', { location: 'https://x.test' }), { status: 307 }],
    ['400 of another server', answer(400, 'Bad Request'), { reason: 'unexpected_answer', status: 400 }],
  ];
  it.each(FAULTS)('with %s is repeated byte by byte', async (_, fault, event) => {
    const reporter = await openAndGreet({ batchRecords: 3 });
    bench.service.faults.push(fault);
    const ids = await store(reporter, usages(3));
    await until(() => bench.eventsOf('send_failed')).toMatchObject([{ ...event, attempt: 1, retryMs: 500 }]);
    expect(reporter.pending.records).toBe(3);
    bench.clock.advance(499);
    expect(bench.service.batches).toHaveLength(1);
    bench.clock.advance(1);
    await until(() => reporter.pending.records).toBe(0);
    expect(bench.service.batches[1]!.body).toBe(bench.service.batches[0]!.body);
    expect([...bench.service.charged.keys()]).toEqual(ids);
    expect(bench.service.conflicts).toEqual([]);
  });

  it('without an answer for 30 seconds is repeated', async () => {
    const reporter = await openAndGreet({ batchRecords: 1 });
    bench.service.faults.push({ kind: 'hang' });
    await store(reporter, [usage()]);
    await until(() => bench.service.inFlight).toBe(1);
    bench.clock.advance(29_999);
    expect(bench.service.inFlight).toBe(1);
    bench.clock.advance(1);
    await until(() => bench.eventsOf('send_failed')).toMatchObject([{ reason: 'timeout', retryMs: 500 }]);
    bench.clock.advance(500);
    await until(() => bench.service.charged.size).toBe(1);
  });

  it('is retried without end, with doubling delays up to a minute', async () => {
    const reporter = await openAndGreet({ batchRecords: 1 });
    bench.service.faults.push(...Array.from({ length: 200 }, () => answer(503)));
    await store(reporter, [usage()]);
    await pass(30_000, () => bench.service.charged.size).toBe(1);
    const delays = bench.eventsOf('send_failed').map((event) => event.retryMs);
    expect(delays.slice(0, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(delays).toHaveLength(200);
    expect(new Set(bench.service.batches.map((batch) => batch.body)).size).toBe(1);
  });

  it('is retried at a random time before that', async () => {
    const reporter = await openAndGreet({ batchRecords: 1, random: seeded(1) });
    bench.service.faults.push(...Array.from({ length: 300 }, () => answer(500)));
    await store(reporter, [usage()]);
    await pass(30_000, () => bench.service.charged.size).toBe(1);
    const late = bench
      .eventsOf('send_failed')
      .map((event) => event.retryMs)
      .slice(7);
    expect(Math.min(...late)).toBeLessThan(6_000);
    expect(Math.max(...late)).toBeGreaterThan(54_000);
    expect(Math.max(...late)).toBeLessThanOrEqual(60_000);
  });

  it('restarts at half a second after a success', async () => {
    const reporter = await openAndGreet({ batchRecords: 1 });
    for (let round = 0; round < 2; round += 1) {
      bench.service.faults.push(answer(500), answer(500));
      await store(reporter, [usage()]);
      await pass(500, () => bench.service.charged.size).toBe(round + 1);
    }
    const delays = bench.eventsOf('send_failed').map((event) => event.retryMs);
    expect(delays).toEqual([500, 1_000, 500, 1_000]);
  });

  it('does not block new records, which are sent in order afterwards', async () => {
    const reporter = await openAndGreet({ batchRecords: 10 });
    bench.service.faults.push(...Array.from({ length: 5 }, () => answer(500)));
    const ids = await store(reporter, usages(35));
    await pass(500, () => bench.service.charged.size).toBe(35);
    expect([...bench.service.charged.keys()]).toEqual(ids);
  });
});

describe('429', () => {
  it('waits for Retry-After', async () => {
    const reporter = await openAndGreet({ batchRecords: 1 });
    bench.service.faults.push(answer(429, '', { 'retry-after': '42' }));
    await store(reporter, [usage()]);
    await until(() => bench.eventsOf('send_failed')).toMatchObject([
      { reason: 'rate_limited', status: 429, retryMs: 42_000 },
    ]);
    bench.clock.advance(41_999);
    expect(bench.service.batches).toHaveLength(1);
    bench.clock.advance(1);
    await until(() => bench.service.charged.size).toBe(1);
  });

  it.each([
    ['a date', 'Sun, 01 Mar 2026 12:01:30 GMT', 90_000],
    ['a date in the past', 'Sun, 01 Mar 2026 11:00:00 GMT', 500],
    ['nonsense', 'soon', 500],
    ['years', '99999999999', 3_600_000],
  ])('understands %s', async (_, header, retryMs) => {
    const reporter = await openAndGreet({ batchRecords: 1 });
    bench.clock.setWall(Date.parse('2026-03-01T12:00:00Z'));
    bench.service.faults.push(answer(429, '', { 'retry-after': header }));
    await store(reporter, [usage()]);
    await until(() => bench.eventsOf('send_failed')).toMatchObject([{ retryMs }]);
  });

  it('is neither shortened nor extended by a wall clock that is set', async () => {
    const reporter = await openAndGreet({ batchRecords: 1 });
    bench.service.faults.push(answer(429, '', { 'retry-after': '10' }));
    await store(reporter, [usage()]);
    await until(() => bench.eventsOf('send_failed').length).toBe(1);
    bench.clock.setWall(Date.parse('2036-01-01'));
    bench.clock.advance(9_999);
    expect(bench.service.batches).toHaveLength(1);
    bench.clock.setWall(Date.parse('1996-01-01'));
    bench.clock.advance(1);
    await until(() => bench.service.charged.size).toBe(1);
  });
});

describe('400', () => {
  it.each([1, 2, 5])('of %i bad records among 1,000 blocks no other, in few requests', async (bad) => {
    const names = new Set(Array.from({ length: bad }, (_, index) => `p-${97 + index * 181}`));
    bench.service.isBad = (record) => names.has(record.participant!);
    const reporter = await openAndGreet({ batchRecords: 1_000 });
    const ids = await store(reporter, usages(1_000));
    await until(() => reporter.pending.records).toBe(0);

    expect(bench.service.charged.size).toBe(1_000 - bad);
    const quarantined = bench.eventsOf('record_quarantined');
    expect(quarantined.map((event) => event.id)).toEqual(ids.filter((_, index) => names.has(`p-${index}`)));
    expect(quarantined[0]!.message).toBe('invalid request: records/0/role');
    // Each bad record takes ten halvings with two halves each, plus one empty batch.
    expect(bench.service.received.length).toBeLessThanOrEqual(1 + 1 + bad * (2 * 10 + 1));
    expect(await bench.files()).toEqual(['quarantine.jsonl']);
  });

  it('keeps the bad record whole, with the reason', async () => {
    bench.service.isBad = (record) => record.participant === 'Zoë 🎭';
    const reporter = await openAndGreet({ batchRecords: 2 });
    const [, bad] = await store(reporter, [usage(), usage({ participant: 'Zoë 🎭' })]);
    await until(() => bench.eventsOf('record_quarantined').length).toBe(1);
    const lines = (await readText('quarantine.jsonl')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        message: 'invalid request: records/0/role',
        record: expect.objectContaining({ id: bad, participant: 'Zoë 🎭', egress_bytes: 50_000_000 }),
      },
    ]);
  });

  it('of a service that refuses even an empty batch condemns no record', async () => {
    const reporter = await openAndGreet({ batchRecords: 4 });
    bench.service.faults.push(...Array.from({ length: 40 }, () => answer(400, '{"error":"unknown field"}')));
    const ids = await store(reporter, usages(4));
    await pass(1_000, () => bench.service.charged.size).toBe(4);
    expect([...bench.service.charged.keys()]).toEqual(ids);
    expect(bench.eventsOf('record_quarantined')).toEqual([]);
    expect(bench.eventsOf('send_failed').every((event) => event.reason === 'unexpected_answer')).toBe(true);
  });

  it('survives failures during the halving', async () => {
    bench.service.isBad = (record) => record.participant === 'p-3';
    const reporter = await openAndGreet({ batchRecords: 8 });
    await store(reporter, usages(7));
    const random = seeded(3);
    for (let index = 0; index < 12; index += 1) {
      bench.service.faults.push(random() < 0.5 ? { kind: 'lose_answer' } : answer(502));
    }
    await store(reporter, [usage({ participant: 'p-7' })]);
    await pass(1_000, () => bench.service.charged.size).toBe(7);
    await until(() => bench.eventsOf('record_quarantined').length).toBe(1);
    expect(bench.eventsOf('send_failed').length).toBe(12);
    expect(bench.service.conflicts).toEqual([]);
  });

  it('keeps the whole segment when the quarantine cannot be written', async () => {
    bench.service.isBad = (record) => record.participant === 'p-1';
    const reporter = await openAndGreet({ batchRecords: 2 });
    await mkdir(join(bench.folder, 'quarantine.jsonl'));
    const ids = await store(reporter, usages(2));
    await until(() => bench.eventsOf('record_quarantined')).toMatchObject([
      { id: ids[1], file: join(bench.folder, '0000000001.kept') },
    ]);
    await until(() => reporter.pending.records).toBe(0);
    expect(await readText('0000000001.kept')).toContain(ids[1]);
  });
});

describe('413', () => {
  it('of a proxy with a smaller limit causes smaller batches', async () => {
    const { fetch } = bench.service;
    const small: typeof fetch = async (url, init) =>
      String(init?.body).length > 2_000 ? new Response('too large', { status: 413 }) : fetch(url, init);
    const reporter = await openAndGreet({ batchRecords: 40, fetch: small });
    await store(reporter, usages(40));
    await until(() => bench.service.charged.size).toBe(40);
    expect(bench.eventsOf('record_quarantined')).toEqual([]);
  });
});

describe('401', () => {
  it('keeps records and sends them with the next key', async () => {
    let key = 'old-key';
    const reporter = await openAndGreet({ key: () => key, batchRecords: 2 });
    bench.service.acceptKey = (given) => given === 'new-key';
    const first = await store(reporter, usages(2));
    await until(() => bench.eventsOf('key_refused')).toEqual([{ type: 'key_refused', retryMs: 500 }]);
    const second = await store(reporter, usages(2));
    expect(reporter.pending.records).toBe(4);
    key = 'new-key';
    bench.clock.advance(500);
    await until(() => reporter.pending.records).toBe(0);
    expect([...bench.service.charged.keys()]).toEqual([...first, ...second]);
  });

  it('rereads the key file', async () => {
    const file = join(bench.folder, 'relay.key');
    await writeFile(file, 'old-key\n');
    const reporter = await openAndGreet({ key: { file }, batchRecords: 1 });
    bench.service.acceptKey = (given) => given === 'new-key';
    await store(reporter, [usage()]);
    await until(() => bench.eventsOf('key_refused').length).toBe(1);
    await writeFile(file, 'new-key\n');
    await pass(100, () => bench.service.charged.size).toBe(1);
    expect(bench.service.received.map((each) => each.key)).toEqual(['old-key', 'old-key', 'new-key']);
  });

  it('is not repeated with a refused key', async () => {
    let reads = 0;
    const key = () => {
      reads += 1;
      return 'old-key';
    };
    const reporter = await openAndGreet({ key, batchRecords: 1 });
    bench.service.acceptKey = () => false;
    await store(reporter, [usage()]);
    await pass(1_000, () => reads).toBeGreaterThanOrEqual(7);
    expect(bench.service.batches).toHaveLength(1);
    await pass(10_000, () => bench.service.batches.length).toBe(2);
    bench.service.acceptKey = () => true;
    await pass(10_000, () => bench.service.charged.size).toBe(1);
  });

  it('or an unreadable key stops only the sending', async () => {
    let key: (() => string) | undefined;
    const reporter = await bench.open({
      key: () => key?.() ?? Promise.reject(new Error('the vault is sealed')),
      batchRecords: 1,
    });
    const [id] = await store(reporter, [usage()]);
    await until(() => bench.eventsOf('key_unreadable')[0]).toMatchObject({ retryMs: 500 });
    expect(bench.service.received).toEqual([]);
    key = () => 'not a key\r\nx-evil: 1';
    await pass(500, () => bench.eventsOf('key_unreadable').length).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(bench.events)).not.toContain('evil');
    key = () => 'relay-key';
    await pass(500, () => [...bench.service.charged.keys()]).toEqual([id]);
  });

  it('with a source that never answers counts as an unreadable key', async () => {
    let asked = 0;
    const key = () => {
      asked += 1;
      return asked === 1 ? new Promise<string>(() => undefined) : 'relay-key';
    };
    await bench.open({ key });
    await until(() => asked).toBe(1);
    bench.clock.advance(30_000);
    await until(() => bench.eventsOf('key_unreadable').length).toBe(1);
    await pass(100, () => bench.service.received.length).toBe(1);
  });
});

describe('200', () => {
  it('with inconsistent counts is reported, and the segment is kept for inspection', async () => {
    const reporter = await openAndGreet({ batchRecords: 3 });
    const text = '{"charged":1,"duplicates":1,"unbilled":0,"admitted":true}';
    bench.service.faults.push(answer(200, text));
    const ids = await store(reporter, usages(3));
    const file = join(bench.folder, '0000000001.kept');
    await until(() => bench.eventsOf('counts_differ')).toEqual([
      { type: 'counts_differ', records: 3, charged: 1, duplicates: 1, unbilled: 0, file },
    ]);
    await until(() => reporter.pending.records).toBe(0);
    expect(await readText('0000000001.kept')).toContain(ids[2]);
    expect(bench.service.batches).toHaveLength(1);
  });
});

describe('admitted', () => {
  it('is unknown before the first answer, and changes emit an event', async () => {
    bench.service.faults.push(answer(503), answer(503));
    const reporter = await bench.open();
    await until(() => bench.eventsOf('send_failed').length).toBe(1);
    expect(reporter.admitted).toBe('unknown');
    await pass(500, () => reporter.admitted).toBe(true);
    bench.service.admitted = false;
    await pass(1_000, () => reporter.admitted).toBe(false);
    bench.service.admitted = true;
    await pass(1_000, () => reporter.admitted).toBe(true);
    expect(bench.eventsOf('admitted_changed').map((event) => [event.before, event.admitted])).toEqual([
      ['unknown', true],
      [true, false],
      [false, true],
    ]);
  });

  it('is polled with an empty batch 15 seconds after the last answer, plus or minus a fifth', async () => {
    const random = { value: 0 };
    await openAndGreet({ random: () => random.value });
    expect(bench.service.received[0]!.body).toBe('{"records":[]}');
    bench.clock.advance(11_999);
    expect(bench.service.received).toHaveLength(1);
    random.value = 1;
    bench.clock.advance(1);
    await until(() => bench.service.received.length).toBe(2);
    await until(() => bench.service.inFlight).toBe(0);
    bench.clock.advance(17_999);
    expect(bench.service.received).toHaveLength(2);
    bench.clock.advance(1);
    await until(() => bench.service.received.length).toBe(3);
  });

  it('comes with batches as well, so that a busy relay need not poll', async () => {
    const reporter = await openAndGreet();
    for (let round = 1; round <= 5; round += 1) {
      await store(reporter, [usage()]);
      bench.clock.advance(5_000);
      await until(() => bench.service.charged.size).toBe(round);
      await until(() => reporter.pending.records).toBe(0);
    }
    expect(bench.service.received).toHaveLength(6);
  });

  it('stays what it was while the service cannot be reached', async () => {
    const reporter = await openAndGreet();
    bench.service.faults.push(...Array.from({ length: 20 }, () => answer(503)));
    await pass(15_000, () => bench.service.faults.length).toBe(0);
    expect(reporter.admitted).toBe(true);
    expect(bench.eventsOf('admitted_changed')).toHaveLength(1);
  });
});

it('a listener that throws does not stop the sending', async () => {
  const thrown: unknown[] = [];
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', (error) => thrown.push(error));
  try {
    const reporter = await bench.open({
      batchRecords: 1,
      onEvent: ({ type }) => {
        if (type === 'admitted_changed') throw new Error('of the listener');
      },
    });
    await until(() => reporter.admitted).toBe(true);
    await store(reporter, [usage()]);
    await until(() => bench.service.charged.size).toBe(1);
    expect(thrown).toEqual([new Error('of the listener')]);
  } finally {
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
});

function readText(name: string): Promise<string> {
  return readFile(join(bench.folder, name), 'utf8');
}

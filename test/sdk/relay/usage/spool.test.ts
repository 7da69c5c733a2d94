import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../../../sdk/typescript/src/relay/usage/errors.ts';
import type { UsageReporter } from '../../../../sdk/typescript/src/relay/usage/reporter.ts';
import { encodeEntry, parseSegment } from '../../../../sdk/typescript/src/relay/usage/segment.ts';
import { store, usage, usages, useBench } from './reporters.ts';

const bench = useBench();
const until = (condition: () => unknown) => expect.poll(condition, { interval: 1 });
/** As time passes. */
const untilCharged = (records: number) =>
  until(() => {
    bench.clock.advance(1_000);
    return bench.service.charged.size;
  }).toBe(records);

/** The service is unreachable. */
const offline = { fetch: () => Promise.reject(new TypeError('fetch failed')) };

const linesOf = async (name: string) => parseSegment(await readFile(join(bench.folder, name))).lines;
const idsOf = async (name: string) => (await linesOf(name)).map((line) => JSON.parse(line).id);
const segment = (number: number) => `${String(number).padStart(10, '0')}.segment`;
const inUse = expect.objectContaining({ code: 'spool_in_use' });

describe('an acknowledged record', () => {
  it('is on the disk, under the ids that are returned', async () => {
    const reporter = await bench.open(offline);
    const ids = await store(reporter, usages(3, { sessionId: 'alice' }));
    expect(await idsOf(segment(1))).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^relay-7\.[A-Za-z0-9_-]{8}\.alice\.\d+$/);
    expect(new Set(ids).size).toBe(3);
    expect(reporter.pending).toEqual({ segments: 1, records: 3 });
  });

  it('is stored after 200 ms, and not acknowledged before', async () => {
    const reporter = await bench.open(offline);
    let stored = false;
    const storing = reporter.record(usage()).then(() => {
      stored = true;
    });
    bench.clock.advance(199);
    await stat(bench.folder);
    expect(stored).toBe(false);
    bench.clock.advance(1);
    await storing;
    expect(await idsOf(segment(1))).toHaveLength(1);
  });

  it('is stored at once when 64 records wait', async () => {
    const reporter = await bench.open(offline);
    await Promise.all(usages(64).map((each) => reporter.record(each)));
    expect(await idsOf(segment(1))).toHaveLength(64);
  });

  it('is readable for its owner alone', async () => {
    const reporter = await bench.open(offline);
    await store(reporter, [usage()]);
    expect((await stat(join(bench.folder, segment(1)))).mode & 0o777).toBe(0o600);
  });

  it('of more than a day becomes several records, stored together', async () => {
    const reporter = await bench.open(offline);
    const [first] = await Promise.all([
      reporter.record(usage({ seconds: 200_000, egressBytes: 1_000_001 })),
      reporter.sync(),
    ]);
    const records = (await linesOf(segment(1))).map((line) => JSON.parse(line));
    expect(records.map((record) => record.id)).toEqual(first);
    expect(records.map((record) => record.seconds)).toEqual([86_400, 86_400, 27_200]);
    expect(records.reduce((sum, record) => sum + record.egress_bytes, 0)).toBe(1_000_001);
  });
});

describe('the next start', () => {
  it('sends the records of the last one first, under the same ids', async () => {
    const before = await bench.open({ ...offline, batchRecords: 4 });
    const left = await store(before, usages(10));
    const closing = before.close({ deadlineSeconds: 1 });
    await until(() => bench.clock.timers.includes(1_000)).toBe(true);
    bench.clock.advance(1_000);
    expect(await closing).toEqual({ left: 10 });

    const after = await bench.open({ batchRecords: 4 });
    expect(after.pending).toEqual({ segments: 3, records: 10 });
    expect(bench.eventsOf('spool_recovered')).toEqual([
      { type: 'spool_recovered', segments: 3, records: 10, tornBytes: 0 },
    ]);
    const fresh = await store(after, usages(4));
    await until(() => [...bench.service.charged.keys()]).toEqual([...left, ...fresh]);
    await until(() => after.pending.records).toBe(0);
    expect(await bench.files()).toEqual([]);
  });

  it('splits old records by its own limits', async () => {
    await writeFile(join(bench.folder, segment(3)), Buffer.concat(wireLines(25).map(encodeEntry)));
    await bench.open({ batchRecords: 10 });
    await until(() => bench.service.batches.map((batch) => batch.records.length)).toEqual([10, 10, 5]);
  });

  it('never writes to a file of the last one, or reuses its number', async () => {
    await writeFile(join(bench.folder, segment(7)), encodeEntry(wireLines(1)[0]!));
    await writeFile(join(bench.folder, '0000000009.kept'), '');
    const reporter = await bench.open(offline);
    await store(reporter, [usage()]);
    expect(await bench.files()).toEqual([segment(7), '0000000009.kept', segment(10)]);
  });

  it('recovers from an entry torn at any byte', async () => {
    const count = encodeEntry(wireLines(1, 'r.000')[0]!).length;
    for (let missing = 1; missing <= count; missing += 1) {
      const lines = wireLines(3, `r.${String(missing).padStart(3, '0')}`);
      const torn = Buffer.concat(lines.map(encodeEntry)).subarray(0, -missing);
      await writeFile(join(bench.folder, segment(missing)), torn);
    }
    const reporter = await bench.open();
    expect(bench.eventsOf('segment_corrupt')).toEqual([]);
    await until(() => reporter.pending.segments).toBe(0);
    expect(bench.service.charged.size).toBe(2 * count);
    expect(await bench.files()).toEqual([]);
  });

  it('reports damage in the middle, sends all valid records, and keeps the file', async () => {
    const [first, second, third, fourth] = wireLines(4).map(encodeEntry);
    second![30] = second![30]! ^ 0x04;
    const damaged = Buffer.concat([first!, second!, third!]);
    await writeFile(join(bench.folder, segment(1)), damaged);
    await writeFile(join(bench.folder, segment(2)), fourth!);
    const reporter = await bench.open();
    expect(bench.eventsOf('segment_corrupt')).toEqual([
      {
        type: 'segment_corrupt',
        file: join(bench.folder, segment(1)),
        offset: first!.length,
        bytes: second!.length,
      },
    ]);
    await until(() => reporter.pending.records).toBe(0);
    expect([...bench.service.charged.keys()]).toEqual(['r.b.0.0', 'r.b.0.2', 'r.b.0.3']);
    expect(await bench.files()).toEqual(['0000000001.kept']);
    expect(await readFile(join(bench.folder, '0000000001.kept'))).toEqual(damaged);
  });

  it('is not blocked by an unreadable segment, and reads it later', async () => {
    const [first, second] = wireLines(2).map(encodeEntry);
    await mkdir(join(bench.folder, segment(1)));
    await writeFile(join(bench.folder, segment(2)), first!);
    const reporter = await bench.open();
    expect(bench.eventsOf('segment_failed')).toMatchObject([{ file: join(bench.folder, segment(1)) }]);
    await until(() => bench.service.charged.size).toBe(1);
    await until(() => reporter.pending.segments).toBe(1);
    await rmdir(join(bench.folder, segment(1)));
    await writeFile(join(bench.folder, segment(1)), second!);
    await untilCharged(2);
    await until(() => reporter.pending.segments).toBe(0);
    expect(await bench.files()).toEqual(['0000000001.kept']);
  });
});

it('a segment that cannot be read counts, holds up no other, and is tried again', async () => {
  const reporter = await bench.open();
  await store(reporter, [usage()]);
  await rename(join(bench.folder, segment(1)), join(bench.folder, 'aside'));
  await mkdir(join(bench.folder, segment(1)));
  bench.clock.advance(5_000);
  await until(() => bench.eventsOf('segment_failed').length).toBe(1);
  expect(reporter.pending).toEqual({ segments: 1, records: 1 });
  await store(reporter, [usage()]);
  await untilCharged(1);
  await rmdir(join(bench.folder, segment(1)));
  await rename(join(bench.folder, 'aside'), join(bench.folder, segment(1)));
  await untilCharged(2);
  await until(() => reporter.pending.segments).toBe(0);
});

describe('a folder', () => {
  it('has one reporter at a time', async () => {
    const first = await bench.open(offline);
    await expect(bench.open()).rejects.toEqual(inUse);
    await store(first, [usage()]);
    expect((await readLocks()).length).toBe(1);
  });

  it('is free again after a close', async () => {
    const first = await bench.open();
    const closing = first.close();
    await closing;
    await bench.open();
    expect((await readLocks()).length).toBe(1);
  });

  it('goes to one of many concurrent reporters', async () => {
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => bench.open(offline)));
    const winners = results.filter((result) => result.status === 'fulfilled');
    expect(winners.length).toBeLessThanOrEqual(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toEqual(inUse);
    if (winners.length === 0) await bench.open(offline);
    await expect(bench.open()).rejects.toEqual(inUse);
  });

  it("may have a path longer than a socket's limit", async () => {
    const spool = join(bench.folder, 'x'.repeat(120), 'spool');
    await bench.open({ ...offline, spool });
    await expect(bench.open({ spool })).rejects.toEqual(inUse);
  });

  it('that cannot be created is an error', async () => {
    await writeFile(join(bench.folder, 'file'), '');
    await expect(bench.open({ spool: join(bench.folder, 'file') })).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('a full disk', () => {
  it('is reported to the caller, and loses no acknowledged record', async () => {
    // A file size limit fails in the middle of a write, like a full disk.
    const script = join(import.meta.dirname, 'run-full-disk.ts');
    const limited = `ulimit -f 8; exec "$0" "$@"`;
    const child = spawn('sh', ['-c', limited, process.execPath, script, bench.folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(code).toBe(0);
    const { acknowledged, refused } = JSON.parse(output) as { acknowledged: string[]; refused: string[] };
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused)).toEqual(new Set(['spool_failed']));
    expect(acknowledged.length).toBeGreaterThan(20);

    const quarantined = await readFile(join(bench.folder, 'other/quarantine.jsonl'), 'utf8');
    const sizes = quarantined
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).record.id.length);
    expect(sizes).toEqual([3_000, 1]);

    const reporter = await bench.open();
    expect(bench.eventsOf('segment_corrupt')).toEqual([]);
    expect(bench.eventsOf('spool_recovered')).toMatchObject([{ records: acknowledged.length, tornBytes: 0 }]);
    await until(() => reporter.pending.records).toBe(0);
    expect([...bench.service.charged.keys()].sort()).toEqual(acknowledged.sort());
  });
});

it('no usage is accepted once the reporter is closed', async () => {
  const reporter = await bench.open();
  const session = reporter.startSession({ role: 'host', tier: 'hd' });
  await reporter.close();
  await expect(reporter.record(usage())).rejects.toBeInstanceOf(UsageError);
  await expect(reporter.record(usage())).rejects.toMatchObject({ code: 'closed' });
  expect(() => reporter.startSession({ role: 'host', tier: 'hd' })).toThrow('closed');
  expect(() => session.add({ egressBytes: 5 })).toThrow(expect.objectContaining({ code: 'closed' }));
  expect(await bench.files()).toEqual([]);
});

function wireLines(count: number, prefix = 'r.b.0'): string[] {
  return Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      id: `${prefix}.${index}`,
      role: 'host',
      tier: 'hd',
      seconds: 1,
      egress_bytes: 2,
      ingress_bytes: 3,
    }),
  );
}

async function readLocks(): Promise<string[]> {
  return (await readdir(bench.folder)).filter((name) => name.startsWith('lock.'));
}

describe('what running sessions have used', () => {
  const RUNNING = 'running.records';
  const WHO = { room: 'main', participant: 'ann', role: 'audience', tier: 'hd' } as const;
  /** What a start finds that comes after a crash now. */
  async function afterCrash(): Promise<{
    folder: string;
    records: () => Promise<Record<string, unknown>[]>;
  }> {
    const folder = `${bench.folder}-crashed-${(await readdir(join(bench.folder, '..'))).length}`;
    await cp(bench.folder, folder, { recursive: true, filter: (path) => !path.includes('lock.') });
    onTestFinished(() => rm(folder, { recursive: true }));
    const records = async () => {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.segment'));
      const segments = await Promise.all(names.map((name) => readFile(join(folder, name))));
      return segments.flatMap((bytes) => parseSegment(bytes).lines).map((line) => JSON.parse(line));
    };
    return { folder, records };
  }
  const kept = () => bench.files().then((files) => files.includes(RUNNING));

  /** A session whose checkpoint has less than its record. */
  async function recordAfterCheckpoint(reporter: UsageReporter): Promise<void> {
    const session = reporter.startSession(WHO);
    session.add({ egressBytes: 700 });
    bench.clock.advance(1_000);
    await until(kept).toBe(true);
    session.add({ egressBytes: 30 });
    const ended = session.end();
    await reporter.sync();
    await ended;
  }

  it('becomes records at the start after a crash', async () => {
    const reporter = await bench.open(offline);
    const session = reporter.startSession(WHO);
    session.add({ egressBytes: 700 });
    session.change({ tier: 'full_hd' });
    session.add({ egressBytes: 30 });
    bench.clock.advance(1_000);
    await until(kept).toBe(true);
    const { folder, records } = await afterCrash();
    await bench.open({ ...offline, spool: folder });
    expect(await records()).toMatchObject([
      { participant: 'ann', tier: 'hd', seconds: 0, egress_bytes: 700 },
      { participant: 'ann', tier: 'full_hd', seconds: 1, egress_bytes: 30 },
    ]);
    expect(await readdir(folder)).not.toContain(RUNNING);
    expect(bench.eventsOf('spool_recovered')).toMatchObject([{ segments: 1, records: 2 }]);
  });

  it('is reported once if its record is on disk too', async () => {
    const reporter = await bench.open(offline);
    await recordAfterCheckpoint(reporter);
    expect(await kept()).toBe(true);
    const { folder, records } = await afterCrash();
    await bench.open({ ...offline, spool: folder });
    expect(await records()).toMatchObject([{ egress_bytes: 730 }]);
  });

  it('is reported once if the disk refused its record at first', async () => {
    const reporter = await bench.open({ ...offline, intervalSeconds: 2 });
    reporter.startSession(WHO).add({ egressBytes: 700 });
    bench.clock.advance(1_000);
    await until(kept).toBe(true);
    // Neither the next segment nor a checkpoint can be written.
    await writeFile(join(bench.folder, segment(1)), '');
    await mkdir(join(bench.folder, `${RUNNING}.new`));
    bench.clock.advance(1_200);
    await until(() => bench.eventsOf('interval_not_stored').length).toBe(1);
    bench.clock.advance(2_000);
    await until(() => reporter.pending.records).toBe(1);
    await rm(join(bench.folder, segment(1)));
    const { folder, records } = await afterCrash();
    await bench.open({ ...offline, spool: folder });
    expect(await records()).toMatchObject([{ seconds: 4, egress_bytes: 700 }]);
  });

  it('is reported once if its record was sent and deleted', async () => {
    const reporter = await bench.open({ batchSeconds: 0 });
    await recordAfterCheckpoint(reporter);
    await until(() => bench.files().then((files) => files.includes(segment(1)))).toBe(false);
    const { folder, records } = await afterCrash();
    await bench.open({ ...offline, spool: folder });
    expect(await records()).toEqual([]);
  });

  it('is kept beside a session that no record could hold, and stops nothing else', async () => {
    const reporter = await bench.open(offline);
    reporter.startSession({ ...WHO, tenant: 'x'.repeat(70_000) }).add({ egressBytes: 1 });
    reporter.startSession(WHO).add({ egressBytes: 700 });
    bench.clock.advance(1_000);
    await until(kept).toBe(true);
    expect((await linesOf(RUNNING)).map((line) => JSON.parse(line).egress_bytes)).toEqual([700]);
    expect(await store(reporter, [usage()])).toHaveLength(1);
  });

  it('is deleted when no session runs', async () => {
    const reporter = await bench.open();
    const session = reporter.startSession(WHO);
    bench.clock.advance(1_000);
    await until(kept).toBe(true);
    const ended = session.end();
    await reporter.sync();
    await ended;
    bench.clock.advance(1_000);
    await until(kept).toBe(false);
  });

  it('stays in memory while the disk does not take it', async () => {
    const reporter = await bench.open(offline);
    await mkdir(join(bench.folder, `${RUNNING}.new`));
    const session = reporter.startSession(WHO);
    session.add({ egressBytes: 700 });
    bench.clock.advance(1_000);
    await until(() => bench.eventsOf('checkpoint_failed').length).toBe(1);
    await rm(join(bench.folder, `${RUNNING}.new`), { recursive: true });
    bench.clock.advance(1_000);
    await until(kept).toBe(true);
    expect((await linesOf(RUNNING)).map((line) => JSON.parse(line).egress_bytes)).toEqual([700]);
  });
});

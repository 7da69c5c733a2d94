/**
 * Drills at random moments, while relays report and customers pay; then what cannot be restored.
 *
 * `npm run drills` runs 50 and prints what each took. `DRILLS`: how many, `SEED`: which moments.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/base/db/migrate.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import { POSTGRES_BIN } from '../../deploy/processes.ts';
import { databaseUrl } from '../../support/database-url.ts';
import { seeded } from '../../support/seeded.ts';
import { answerForCitus } from '../../support/step-forms.ts';
import { hasCaughtUp, openStage, type Stage } from './stage.ts';

const DRILLS = Number(process.env.DRILLS ?? 4);
const random = seeded(Number(process.env.SEED ?? 1));
/** A server's files are copied again after so many drills. */
const FILES_EVERY = 12;
/** The disaster comes so long after a backup, at most. */
const WAIT_MS = process.env.DRILLS === undefined ? 2_000 : 20_000;

/** What a command that takes more than two seconds says meanwhile. */
const PROGRESS = /^.* \.\.\.\n/gm;
const MAY_MOUNT =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

interface Made {
  readonly name: string;
  readonly moment: string;
  readonly completeAt: string;
  readonly deleted: readonly string[];
  readonly deleted_segments: number;
}

const KINDS = ['a dump', 'files and WAL', 'a moment in the WAL', 'a dump of the standby'] as const;
type Kind = (typeof KINDS)[number];

/** In seconds; `null`: it had none. */
interface Took {
  readonly kind: Kind;
  readonly backup: number | null;
  readonly rpo: number | null;
  readonly rto: number;
}

describe.skipIf(POSTGRES_BIN === undefined)('a drill', { timeout: 300_000 + DRILLS * 120_000 }, () => {
  let stage: Stage;
  const took: Took[] = [];
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(async () => {
    await stage?.close();
    if (process.env.DRILLS !== undefined) console.log(tableOf(took));
  });

  const backUp = async (env: Record<string, string>, ...args: string[]) => {
    const made = await stage.admin(env, 'backup', stage.backups, '--json', ...args);
    expect(made).toMatchObject({ code: 0, err: '' });
    return made.json as Made;
  };
  const drill = async (env: Record<string, string>, folder: string, ...args: string[]) => {
    const { err, ...outcome } = await stage.admin(
      env,
      'drill',
      'restore',
      folder,
      '--scratch',
      stage.scratch,
      ...args,
    );
    return { ...outcome, err: err.replaceAll(PROGRESS, '') };
  };

  /** The arguments of a drill of this kind, when there is something for it to restore, and the seconds that its backup took. */
  const prepare = async (kind: Kind, files: Made): Promise<{ args: string[]; backup: number | null }> => {
    const begun = performance.now();
    if (kind === 'a dump') await backUp({});
    if (kind === 'a dump of the standby') {
      await hasCaughtUp(stage);
      await backUp({ BACKUP_DATABASE_URL: stage.standby.url() });
    }
    const backup = kind.includes('WAL') ? null : (performance.now() - begun) / 1_000;
    await stage.pay();
    await sleep(random() * WAIT_MS);
    if (backup !== null) return { args: [], backup };
    const since = Date.parse(files.completeAt);
    const until = new Date(since + random() * (Date.now() - since));
    // One that commits after the moment, at the latest.
    await stage.pay();
    await stage.server.archive();
    const to = kind === 'files and WAL' ? [] : ['--until', until.toISOString()];
    return { args: ['--wal', stage.wal, ...to], backup };
  };

  test('restores everything up to its moment, and says what is later', async () => {
    onTestFailed(() => console.error(stage.logs()));
    let files: Made | undefined;
    for (let number = 0; number < DRILLS; number += 1) {
      if (number % FILES_EVERY === 0) files = await backUp({}, '--base');
      const kind = KINDS[number % KINDS.length]!;
      const { args, backup } = await prepare(kind, files!);
      const { code, err, json } = await drill({}, stage.backups, ...args, '--payments', '--json');
      expect({ kind, code, err, differences: json?.differences }).toEqual({
        ...{ kind, code: 0, err: '', differences: [] },
      });
      const { restored, lost, at_provider: atProvider, moment } = json;
      // What was acknowledged before the moment is there, whatever the drill itself says.
      expect(restored.records).toBeGreaterThanOrEqual(acknowledgedBefore(stage, Date.parse(moment)));
      expect(restored.records + lost.records).toBeLessThanOrEqual(stage.sent());
      const late = atProvider.filter((each: { found: string }) => each.found === 'not credited');
      expect(late).toHaveLength(lost.payments);
      expect(json.verified).toBe(true);
      took.push({ kind, backup, rpo: json.rpo_seconds, rto: json.rto_seconds });
      if (process.env.DRILLS !== undefined) console.log(`${took.length}: ${JSON.stringify(took.at(-1))}`);
    }
    expect(leftOvers(stage)).toEqual([]);
  });

  test('works with what is kept, and fails if more than a limit would be lost', async () => {
    const keep = ['--base', '--keep', '1', '--wal', stage.wal];
    await backUp({}, ...keep);
    for (let segments = 0; segments < 3; segments += 1) await stage.server.archive();
    const { deleted, deleted_segments: segments } = await backUp({}, ...keep);
    expect(deleted).toEqual([expect.stringMatching(/-base$/)]);
    expect(segments).toBeGreaterThan(2);
    const left = readdirSync(stage.backups);
    expect(left.filter((name) => name.endsWith('-base'))).toHaveLength(1);
    expect(left.some((name) => name.endsWith('-dump'))).toBe(true);
    await stage.pay();
    await stage.server.archive();
    expect(await drill({}, stage.backups, '--wal', stage.wal, '--max-loss', '86400')).toMatchObject({
      ...{ code: 0, err: '' },
    });
    expect(await drill({}, stage.backups, '--wal', stage.wal, '--max-loss', '1')).toMatchObject({
      ...{ code: 1, err: expect.stringMatching(/^\d+\.\d s would be lost, and --max-loss is 1\n$/) },
    });
  });

  describe('of something else ends with one line:', () => {
    /** A folder with a copy of the newest backup of a kind, and its path. */
    const copyOf = (kind: 'dump' | 'base', name: string) => {
      const newest = readdirSync(stage.backups)
        .filter((each) => each.endsWith(kind))
        .sort()
        .at(-1)!;
      const folder = stage.folder(name);
      cpSync(join(stage.backups, newest), join(folder, newest), { recursive: true });
      return { folder, path: join(folder, newest) };
    };
    const refused = async (line: RegExp, env: Record<string, string>, folder: string, ...args: string[]) => {
      const { code, out, err } = await drill(env, folder, ...args);
      expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(line) });
      expect(leftOvers(stage)).toEqual([]);
    };
    beforeAll(() => stage.rest());

    test('a folder that is no backup', async () => {
      await refused(/^\S+ holds no backup: make one with `admin backup`\n$/, {}, stage.folder('empty'));
      await refused(/^\S+ holds no backup: make one with `admin backup`\n$/, {}, '/nowhere');
      const aside = copyOf('dump', 'aside');
      renameSync(aside.path, `${aside.path}.old`);
      await refused(/^\S+ holds no backup: make one with `admin backup`\n$/, {}, aside.folder);
      const { folder, path } = copyOf('dump', 'torn');
      truncateSync(join(path, 'backup.json'), 100);
      await refused(/^\S+backup\.json cannot be read: [^\n]+\n$/, {}, folder);
    });

    test('a backup from the future', async () => {
      const { folder, path } = copyOf('dump', 'future');
      const about = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'));
      for (const moment of ['2100-01-01T00:00:00.000Z', 'today']) {
        writeFileSync(join(path, 'backup.json'), JSON.stringify({ ...about, moment }));
        await refused(/^\S+-dump is not from the past: a clock is wrong, or was\n$/, {}, folder);
      }
    });

    test('a dump that is truncated, or damaged', async () => {
      const { folder, path } = copyOf('dump', 'truncated');
      const dump = join(path, 'database.dump');
      const bytes = readFileSync(dump);
      truncateSync(dump, 10_000);
      await refused(/^the dump of \S+ is not whole: it has 10000 of \d+ bytes\n$/, {}, folder);
      bytes[(bytes.length / 2) | 0]! ^= 1;
      writeFileSync(dump, bytes);
      await refused(/^the dump of \S+ is damaged: its SHA-256 differs\n$/, {}, folder);
    });

    test('files that are damaged', async () => {
      const { folder, path } = copyOf('base', 'damaged-files');
      appendFileSync(join(path, 'files', 'PG_VERSION'), 'x');
      await refused(/^pg_verifybackup: error: "PG_VERSION" [^\n]+\n$/, {}, folder);
    });

    test('a moment that neither files nor WAL have', async () => {
      const past = ['--wal', stage.wal, '--until', '2020-01-01'];
      await refused(
        /^\S+ holds no files of the server from before 2020[^\n]+\n$/,
        {},
        stage.backups,
        ...past,
      );
      const future = ['--wal', stage.wal, '--until', '2100-01-01'];
      await refused(
        /^[^\n]+recovery ended before configured recovery target was reached\n$/,
        {},
        stage.backups,
        ...future,
      );
    });

    test('WAL with a gap, in a folder of any name, and a folder without any', async () => {
      for (let segments = 0; segments < 2; segments += 1) {
        await stage.pay();
        await stage.server.archive();
      }
      const wal = join(stage.folder(`Bob's \\n 5 %f`), 'wal');
      execFileSync('cp', ['-a', stage.wal, wal]);
      expect(await drill({}, stage.backups, '--wal', wal)).toMatchObject({ code: 0, err: '' });
      const segments = readdirSync(wal)
        .filter((name) => /^\w{24}$/.test(name))
        .sort();
      rmSync(join(wal, segments.at(-2)!));
      const gap = new RegExp(`^the WAL has a gap: its newest segment is ${segments.at(-1)}, and [^\n]+\n$`);
      await refused(gap, {}, stage.backups, '--wal', wal);
      for (const name of readdirSync(wal)) renameSync(join(wal, name), join(wal, `${name}.gz`));
      await refused(/^[^\n]+wal holds no WAL: [^\n]+\n$/, {}, stage.backups, '--wal', wal);
      await refused(/^\/nowhere holds no WAL: [^\n]+\n$/, {}, stage.backups, '--wal', '/nowhere');
    });

    test('a backup that others may have changed', async () => {
      const { folder, path } = copyOf('dump', 'of-others');
      chmodSync(path, 0o777);
      await refused(/^\S+ may have been changed by others: [^\n]+ 777\n$/, {}, folder);
      if (process.getuid!() !== 0) return;
      chmodSync(path, 0o700);
      chownSync(join(path, 'database.dump'), 65_534, 65_534);
      await refused(/^\S+ may have been changed by others: it belongs to user 65534, [^\n]+\n$/, {}, folder);
    });

    test('files with a link', async () => {
      const { folder, path } = copyOf('base', 'linked');
      const outside = join(folder, 'outside');
      writeFileSync(outside, 'kept');
      // pg_verifybackup does not look at it.
      const settings = join(path, 'files', 'postgresql.auto.conf');
      rmSync(settings);
      symlinkSync(outside, settings);
      await refused(/^\S+postgresql\.auto\.conf leads out of the backup\n$/, {}, folder);
      expect(readFileSync(outside, 'utf8')).toBe('kept');
    });

    test('files of a server with tablespaces', async () => {
      const ask = (statement: string) => stage.server.query(statement, 'postgres');
      await ask('alter role postgres set allow_in_place_tablespaces = on');
      await ask(`create tablespace elsewhere location ''`);
      const made = await stage.admin({}, 'backup', stage.backups, '--base');
      await ask('drop tablespace elsewhere');
      const line = /^the server has tablespaces \(elsewhere\)[^\n]+\n$/;
      expect(made).toMatchObject({ code: 1, out: '', err: expect.stringMatching(line) });
    });

    test('another SECRETS_KEY', async () => {
      const env = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
      await refused(
        /^SECRETS_KEY is not the one that the signing key \S+ was encrypted with\n$/,
        env,
        stage.backups,
      );
    });

    test('no SECRETS_KEY', async () => {
      const data = stage.folder('data');
      await refused(
        /^what would be lost is not known: [^\n]+\nSECRETS_KEY must be set: there is no \S+secrets\.key\n$/,
        { DATABASE_URL: '', SECRETS_KEY: '', DATA_DIR: data },
        stage.backups,
      );
      expect(readdirSync(data)).toEqual([]);
    });

    test('a backup of another deployment, of a newer version, or of distributed tables', async () => {
      const folder = stage.folder('others');
      await stage.server.query('create database other', 'postgres');
      const url = databaseUrl(stage.server.url(), 'other');
      const db = openPool(url, { max: 1 });
      await migrate(db);
      const other = { DATABASE_URL: url };
      expect(await stage.admin(other, 'backup', folder)).toMatchObject({ code: 0 });
      await refused(/^\S+-dump is of another deployment: [^\n]+\n$/, {}, folder);
      await db.query(`insert into migrations (name, checksum) values ('9999_of_the_future.sql', 'x')`);
      await db.end();
      expect(await stage.admin(other, 'backup', folder)).toMatchObject({ code: 0 });
      await refused(/^\S+ needs a newer version: [^\n]+9999_of_the_future.sql\n$/, other, folder);
      await answerForCitus(url, 'other');
      expect(await stage.admin(other, 'backup', folder)).toMatchObject({
        ...{ code: 1, out: '', err: expect.stringMatching(/^the tables are distributed: [^\n]+\n$/) },
      });
    });

    test.skipIf(!MAY_MOUNT)('a disk that is full, during a backup or a drill', async () => {
      const disk = stage.folder('disk');
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', disk]);
      // It outlives this process, and unmounts however that ends.
      const script = 'cat > /dev/null; umount -l "$1"';
      const watcher = spawn('sh', ['-c', script, 'sh', disk], {
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      onTestFinished(async () => {
        watcher.stdin.end();
        await once(watcher, 'exit');
      });
      await stage.admin({}, 'backup', disk);
      const before = readdirSync(disk);
      const { code, err } = await drill({}, disk, '--scratch', disk);
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringMatching(/^the disk of \S+ is full: [^\n]+\n$/),
      });
      execFileSync('sh', ['-c', 'cat /dev/zero > "$1/ballast" 2> /dev/null; true', 'sh', disk]);
      const again = await stage.admin({}, 'backup', disk);
      expect(again).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^the disk of \S+ is full: [^\n]+\n$/),
      });
      expect(readdirSync(disk).filter((name) => name !== 'ballast')).toEqual(before);
      expect(await drill({}, disk)).toMatchObject({ code: 0 });
    });
  });

  test('fails if the provider has a payment with another amount', async () => {
    const proxy = createServer(async ({ url, headers }, response) => {
      const authorization = headers.authorization!;
      const answer = await fetch(stage.provider + url, { headers: { authorization } });
      const text = (await answer.text()).replaceAll(/("amount_received":\s*)\d+/g, '$11');
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void proxy.close());
    const env = { STRIPE_API_BASE: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    const { code, json } = await drill(env, stage.backups, '--payments', '--json');
    expect({ code, verified: json?.verified }).toEqual({ code: 1, verified: true });
    expect(json.at_provider.some(({ found }: { found: string }) => found !== 'not credited')).toBe(true);
  });

  test('goes on when the database that serves is gone', async () => {
    await stage.server.stop();
    const { code, err, json } = await drill({}, stage.backups, '--json');
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/^what would be lost is not known: [^\n]+\n$/),
    });
    expect(json).toMatchObject({ verified: true, lost: null, rpo_seconds: expect.any(Number) });
  });

  test('knows the age of a standby that has replayed nothing since its start', async () => {
    // What the primary wrote last becomes what it starts from.
    await stage.standby.query('checkpoint');
    await stage.standby.kill();
    const gone = Date.now();
    await stage.standby.start();
    const of = { BACKUP_DATABASE_URL: stage.standby.url() };
    const [first, second] = [await backUp(of), await backUp(of)];
    expect(Date.parse(first.moment)).toBeLessThan(gone);
    expect([second.moment, second.name]).toEqual([first.moment, `${first.name}-2`]);
  });
});

function leftOvers({ backups, scratch }: Stage): string[] {
  return [backups, scratch].flatMap((folder) => readdirSync(folder)).filter((name) => name.startsWith('.'));
}

function acknowledgedBefore({ acknowledged }: Stage, time: number): number {
  return acknowledged.filter(({ at }) => at < time).reduce((sum, { records }) => sum + records, 0);
}

/** A row for each kind, and one for all. */
function tableOf(took: readonly Took[]): string {
  const rowOf = (name: string, own: readonly Took[]) =>
    `| ${[name, own.length, ...(['backup', 'rpo', 'rto'] as const).map((what) => spreadOf(own.map((each) => each[what])))].join(' | ')} |`;
  return [
    '| seconds: least / median / p95 / most | verified | backup | RPO | RTO |',
    '| --- | --- | --- | --- | --- |',
    ...KINDS.map((kind) =>
      rowOf(
        kind,
        took.filter((each) => each.kind === kind),
      ),
    ),
    rowOf('all', took),
  ].join('\n');
}

/** By nearest rank. */
function spreadOf(values: readonly (number | null)[]): string {
  const sorted = values.filter((value) => value !== null).sort((one, other) => one - other);
  if (sorted.length === 0) return '';
  return [0, 0.5, 0.95, 1]
    .map((part) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!.toFixed(1))
    .join(' / ');
}

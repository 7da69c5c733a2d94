import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import {
  type BackupKind,
  FORMAT,
  listNames,
  readBackup,
  type StoredBackup,
} from '../../../src/run/recovery/backup.ts';
import { expireBackups } from '../../../src/run/recovery/expire-backups.ts';

const COUNTS = { tenants: '1', postings: '2', records: '3', payments: '4' };
const [OURS, THEIRS] = ['2026-01-01T00:00:00.000001Z', '2026-01-02T00:00:00.000002Z'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(inject('scratch'), 'expire-'));
});

/** `day`: of November 2026, and the hour. */
function store(
  day: string,
  { kind = 'dump' as BackupKind, deployment = OURS, suffix = '', text = '' } = {},
): StoredBackup {
  const moment = new Date(`2026-11-${day}:00:00Z`);
  const name = `${moment.toISOString().replaceAll(/[-:.]/g, '')}-${kind}${suffix}`;
  mkdirSync(join(folder, name));
  const about = JSON.stringify({ format: FORMAT, kind, deployment, moment, ...COUNTS });
  writeFileSync(join(folder, name, 'backup.json'), text || about);
  return text ? (undefined as never) : readBackup(folder, name);
}

test('keeps the newest ones, and the last one of each of some days', async () => {
  for (const day of ['01T05', '02T05', '02T23', '03T01', '03T02', '03T03']) store(day);
  const made = store('03T04');
  const { backups } = await expireBackups(made, { newest: 2, days: 3 });
  expect(backups).toEqual(['03T02', '03T01', '02T05'].map((day) => nameOf(day)));
  expect(readdirSync(folder).sort()).toEqual(['01T05', '02T23', '03T03', '03T04'].map((day) => nameOf(day)));
  expect(await expireBackups(made, { days: 1 })).toEqual({
    backups: ['03T03', '02T23', '01T05'].map((day) => nameOf(day)),
    segments: 0,
  });
});

test('deletes none of another kind or deployment, none that is not whole, and none from the future', async () => {
  store('01T01', { kind: 'base' });
  store('01T02', { deployment: THEIRS });
  store('01T03', { text: '{' });
  mkdirSync(join(folder, nameOf('01T04')));
  mkdirSync(join(folder, `${nameOf('01T05')}.old`));
  mkdirSync(join(folder, 'notes'));
  const future = nameOf('01T06').replace(/^2026/, '2126');
  mkdirSync(join(folder, future));
  const about = { format: FORMAT, kind: 'dump', deployment: OURS, ...COUNTS };
  writeFileSync(
    join(folder, future, 'backup.json'),
    JSON.stringify({ ...about, moment: '2126-11-01T06:00:00Z' }),
  );
  const before = readdirSync(folder);
  store('02T01');
  expect(await expireBackups(store('02T02'), { newest: 1 })).toEqual({
    ...{ backups: [nameOf('02T01')], segments: 0 },
  });
  expect(readdirSync(folder).sort()).toEqual([...before, nameOf('02T02')].sort());
});

test('keeps the one that was just made of a standby that is behind, and tells names of one moment apart', async () => {
  store('02T02');
  store('02T01');
  const made = store('02T01', { suffix: '-2' });
  store('02T01', { suffix: '-10' });
  expect(listNames(folder)).toEqual([
    nameOf('02T02'),
    ...['-10', '-2', ''].map((suffix) => `${nameOf('02T01')}${suffix}`),
  ]);
  await expireBackups(made, { newest: 1 });
  expect(readdirSync(folder)).toEqual([made.name]);
});

describe('archived WAL', () => {
  const SERVER = Buffer.from('of ours.');
  const segmentOf = (place: number, timeline = 1) =>
    `0000000${timeline}00000000${place.toString(16).toUpperCase().padStart(8, '0')}`;
  let wal: string;
  beforeEach(() => {
    wal = join(folder, 'wal');
    mkdirSync(wal);
  });

  const archive = (name: string, server = SERVER) =>
    writeFileSync(join(wal, name), Buffer.concat([Buffer.alloc(24), server]));
  const storeFiles = (day: string, first: string) => {
    const files = store(day, { kind: 'base' });
    mkdirSync(join(files.folder, 'files', 'global'), { recursive: true });
    writeFileSync(join(files.folder, 'files', 'global', 'pg_control'), SERVER);
    const label = `START WAL LOCATION: 0/2000028 (file ${first})\nCHECKPOINT LOCATION: 0/2000080\n`;
    writeFileSync(join(files.folder, 'files', 'backup_label'), label);
    return files;
  };

  test('is kept from the first segment of the oldest files on', async () => {
    storeFiles('01T01', segmentOf(2));
    storeFiles('01T02', segmentOf(10));
    const made = storeFiles('01T03', segmentOf(20, 2));
    const needed = [segmentOf(10), segmentOf(11), segmentOf(20, 2), '00000002.history'];
    const over = [segmentOf(2), segmentOf(9), segmentOf(9, 2), `${segmentOf(9)}.partial`];
    for (const name of [...needed, ...over]) archive(name);
    archive(segmentOf(3), Buffer.from('of other'));
    expect(await expireBackups(made, { newest: 2, wal })).toEqual({
      ...{ backups: [nameOf('01T01', 'base')], segments: over.length },
    });
    expect(readdirSync(wal).sort()).toEqual([...needed, segmentOf(3)].sort());
  });

  test('is not deleted while it is not known what some files need', async () => {
    const older = storeFiles('01T02', segmentOf(10));
    writeFileSync(join(older.folder, 'files', 'backup_label'), '');
    archive(segmentOf(1));
    const expiring = expireBackups(storeFiles('01T03', segmentOf(20)), { newest: 2, wal });
    await expect(expiring).rejects.toThrow(/backup_label does not say which WAL it needs: none was deleted$/);
    expect(existsSync(join(wal, segmentOf(1)))).toBe(true);
  });
});

function nameOf(day: string, kind: BackupKind = 'dump'): string {
  return `202611${day}0000000Z-${kind}`;
}

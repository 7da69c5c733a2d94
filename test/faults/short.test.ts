/** A short campaign: most of what it covers has tests of its own, but here everything fails at once. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HISTORIES } from '../../faults/check/histories.ts';
import { hasPorcupine } from '../../faults/check/porcupine.ts';
import { openClock } from '../../faults/stage/clock.ts';
import { openDisk } from '../../faults/stage/disk.ts';
import { openScratch } from '../support/scratch.ts';

const MAIN = join(import.meta.dirname, '../../faults/main.ts');
const ARGUMENTS = ['--minutes', '1', '--seed', '1', '--tenants', '2'];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 2 ** 26 };
    const child = execFile(process.execPath, [MAIN, ...args], options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

/** What a machine of this kind cannot show, as the report names it. */
async function listMissing(): Promise<string[]> {
  const disk = await openDisk();
  const clock = openClock({ home: '/nowhere', account: undefined });
  await Promise.all([disk.remove(), clock.remove()]);
  const ofDisk = ['the machine of PostgreSQL loses power', 'the disk of PostgreSQL is full'];
  return [
    ...(disk.limits === undefined ? [] : ofDisk.map((name) => `${name}: ${disk.limits}`)),
    ...(clock.limits === undefined ? [] : [`the clock of PostgreSQL is wrong: ${clock.limits}`]),
    ...(hasPorcupine()
      ? []
      : Object.keys(HISTORIES).map((model) => `histories of ${model} are linearizable`)),
  ];
}

/** A machine that has much else to do does less within a minute, so some rules may have nothing to compare. */
const IDLE = /: there was nothing to compare$/;
const IDLE_MAX = 25;

test('a minute of faults leaves nothing lost, doubled or misstated, and shows what can be shown here', {
  timeout: 900_000,
}, async () => {
  const scratch = openScratch('boxoffice-kept-', { isOnDisk: true });
  onTestFinished(() => scratch.remove());
  const [kept, file, again] = ['kept', 'report.json', 'again.json'].map((name) => join(scratch.folder, name));
  const { code, stdout, stderr } = await run([...ARGUMENTS, '--keep', kept!, '--out', file!]);
  const report = JSON.parse(readFileSync(file!, 'utf8'));
  const { problems, notShown, notLooked } = report;
  expect(problems, stdout || stderr).toEqual([]);
  expect(notShown.filter((line: string) => !IDLE.test(line))).toEqual([]);
  expect(notShown.length).toBeLessThan(IDLE_MAX);
  expect(code).toBe(notShown.length === 0 ? 0 : 3);
  const withoutReasons = (line: string) => line.replace(/: (Porcupine .*|the search .*)$/, '');
  expect(notLooked.map(withoutReasons)).toEqual(await listMissing());
  for (const line of notLooked) expect(stderr).toContain(`- ${line}\n`);
  expect(statSync(join(kept!, 'keys.json')).mode & 0o777).toBe(0o600);

  const second = await run(['--check', kept!, '--out', again!]);
  expect(second.code, second.stdout || second.stderr).toBe(code);
  const { looked, verdict } = JSON.parse(readFileSync(again!, 'utf8'));
  expect({ looked, verdict }).toEqual({ looked: report.looked, verdict: report.verdict });
  expect(existsSync(join(kept!, 'data', 'postgres', 'postmaster.pid'))).toBe(true);
});

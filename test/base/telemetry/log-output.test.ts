/** A process writes its log to the end, and its end does not depend on who reads it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { MACHINE } from '../../support/environment.ts';
import { openScratch } from '../../support/scratch.ts';

const LOG = new URL('../../../src/base/telemetry/log.ts', import.meta.url).href;

/** Runs a program that has a `log`. It begins when something arrives at its standard input. */
function run(program: string, stdout: 'pipe' | number = 'pipe'): ChildProcess {
  const whole = `
    import { makeLog } from ${JSON.stringify(LOG)};
    const log = makeLog('info');
    process.stdin.once('data', () => { process.stdin.destroy(); ${program} });
    log.info('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', whole], {
    env: MACHINE,
    stdio: ['pipe', stdout, 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const MANY = `for (let i = 0; i < 3_000; i += 1) log.info({ i }, 'x'.repeat(100));`;

test('lines before an exit arrive, each once and in their order', async () => {
  const child = run(`${MANY} process.exit(3);`);
  child.stdin!.write('go');
  const [said, [code]] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
  const lines = said.trimEnd().split('\n');
  expect(code).toBe(3);
  expect(lines.slice(1).map((line) => JSON.parse(line).i)).toEqual(
    Array.from({ length: 3_000 }, (_, i) => i),
  );
});

test('a process ends at once when the reader has gone', async () => {
  const child = run(`${MANY} process.exit(3);`);
  await once(child.stdout!, 'data');
  child.stdout!.destroy();
  await once(child.stdout!, 'close');
  child.stdin!.write('go');
  expect(await once(child, 'exit')).toEqual([3, null]);
});

test('a process ends although a reader that is there does not read', async () => {
  const child = run(`${MANY} process.exit(3);`);
  child.stdout!.pause();
  child.stdin!.write('go');
  expect(await once(child, 'exit')).toEqual([3, null]);
});

test('a process goes on without its reader', async () => {
  const child = run(
    `${MANY} setTimeout(() => { log.info('later'); setTimeout(() => process.exit(4), 50); }, 50);`,
  );
  await once(child.stdout!, 'data');
  child.stdout!.destroy();
  await once(child.stdout!, 'close');
  child.stdin!.write('go');
  expect(await once(child, 'exit')).toEqual([4, null]);
});

test('a file has all lines', async () => {
  const scratch = openScratch('boxoffice-log-');
  const path = join(scratch.folder, 'log');
  const file = fs.openSync(path, 'w');
  const child = run(`${MANY} log.info('last');`, file);
  fs.closeSync(file);
  child.stdin!.write('go');
  expect(await once(child, 'exit')).toEqual([0, null]);
  const lines = fs.readFileSync(path, 'utf8').trimEnd().split('\n');
  expect([lines.length, JSON.parse(lines.at(-1)!).msg]).toEqual([3_002, 'last']);
  await scratch.remove();
});

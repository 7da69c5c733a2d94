/** `npm start`, what it prints, and the way from there to the first charge. `npm run bench -- first-charge` times it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chargeFirst } from '../../bench/first-charge.ts';
import { findFreePort } from '../../src/run/free-port.ts';
import { MACHINE } from '../support/environment.ts';
import { openScratch } from '../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../..');
const PORTS = ['PORT', 'GRPC_PORT', 'OPS_PORT', 'SANDBOX_PORT'];

test('leads from npm start to the console, and to a charge', async () => {
  const scratch = openScratch('boxoffice-first-');
  const ports = await Promise.all(
    PORTS.map(async (name) => [name, String(await findFreePort('127.0.0.1'))] as const),
  );
  const settings = { ...Object.fromEntries(ports), DATA_DIR: scratch.folder, LOG_LEVEL: 'silent' };
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...MACHINE, npm_config_update_notifier: 'false', ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(npm, 'exit');
  onTestFinished(async () => {
    npm.kill('SIGTERM');
    await ended;
    await scratch.remove();
  });
  let printed = '';
  // A database is made first, which takes a busy machine a minute.
  for await (const text of npm.stderr.setEncoding('utf8')) {
    printed += text;
    if (/Stop with Ctrl-C\.\n$/.test(printed)) break;
  }
  expect(printed.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  const [, url = ''] = /Open (http:\S+) in a browser: the console/.exec(printed)!;
  const [, sandbox = ''] = /no real money: (http:\S+)/.exec(printed)!;
  const [, tutorial = ''] = /(http:\S+#[\w-]+): a first charge/.exec(printed)!;

  const first = await fetch(url);
  expect([first.status, await first.text()]).toEqual([
    200,
    expect.stringContaining('href="/console/signup"'),
  ]);
  const page = await (await fetch(tutorial)).text();
  expect(page).toContain(`id="${tutorial.split('#')[1]}"`);
  expect(page).toContain(' data-run=');
  expect(await chargeFirst({ url, sandbox })).toMatchObject({
    charged: 1,
    total: { micros: 25_146 },
    admitted: true,
  });
});

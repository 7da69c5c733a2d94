/** `npm run demo:video`, as a process that gets nothing but the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, inject, onTestFinished, test } from 'vitest';
import { CHROMIUM_PATH } from '../../scripts/browser-path.ts';
import { readBlocks } from '../docs/blocks.ts';
import { expectOutput } from '../docs/masks.ts';
import { MACHINE } from '../support/environment.ts';

const DEMO = join(import.meta.dirname, '../../demo/main.ts');

/** In a process group of its own, with a folder of its own for what is temporary. */
async function startDemo(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const folder = await mkdtemp(join(inject('scratch'), 'demo-'));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', DEMO, ...args], {
    env: { ...MACHINE, CHROMIUM_PATH, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const isGone = () => {
    try {
      return !process.kill(-child.pid!, 0);
    } catch {
      return true;
    }
  };
  onTestFinished(() => {
    if (!isGone()) process.kill(-child.pid!, 'SIGKILL');
  });
  return { child, folder, isGone, exit: once(child, 'exit') };
}

/** The demo has ended: neither a process nor a folder is left. */
async function expectNothingLeft({ folder, isGone }: Awaited<ReturnType<typeof startDemo>>) {
  await expect.poll(isGone).toBe(true);
  expect((await readdir(folder)).filter((name) => name.startsWith('boxoffice'))).toEqual([]);
}

test('without a window it tells the story with its figures, and leaves nothing behind', async () => {
  const demo = await startDemo(['--headless']);
  const [stdout, stderr, [code]] = await Promise.all([
    text(demo.child.stdout),
    text(demo.child.stderr),
    demo.exit,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const line of [
    /tenant {5}t_[0-9a-f]{16}$/m,
    /balance {4}\$20\.000000$/m,
    /connected {2}\d+ ms after/,
    /bob {8}\d+ pictures, the newest 640 x 360/,
    /relay {6}sent bob [\d,]+ bytes: 0\.\d\d % apart/,
    /charged {4}\$0\.0000\d\d for bob, tier hd/,
    /balance {4}\$20\.000000 before, \$19\.9999\d\d now/,
    /bob's page was told "kicked" within \d+ ms/,
    /ann's page was told "ended" within \d+ ms/,
    /^Done: /m,
  ]) {
    expect(stdout).toMatch(line);
  }
  const [shown] = readBlocks('docs/demos.md').filter(({ text }) => text.includes('told "kicked" within'));
  const withoutFigures = (text: string) => text.replaceAll(/\d[\d,.]*/g, '0');
  expectOutput(withoutFigures(`...\n${shown!.text}...\n`), withoutFigures(stdout), shown!.where);
  await expectNothingLeft(demo);
});

test('Ctrl-C ends the page and everything behind it', async () => {
  const demo = await startDemo();
  const lines = createInterface(demo.child.stdout)[Symbol.asyncIterator]();
  let url: string | undefined;
  while (url === undefined) [, url] = /^Open (http:\S+) /.exec((await lines.next()).value ?? '') ?? [];
  expect(await (await fetch(url)).text()).toContain('This page needs JavaScript');
  // As a terminal does it: every process of the group gets the signal.
  process.kill(-demo.child.pid!, 'SIGINT');
  expect(await demo.exit).toEqual([0, null]);
  await expectNothingLeft(demo);
});

test.each([
  [{ HOST: '0.0.0.0' }, 'set TLS_CERT and TLS_KEY'],
  [{ PORT: 'x' }, 'PORT'],
])('says in one line why it does not start: %o', async (env, reason) => {
  const demo = await startDemo([], env);
  const [stderr, [code]] = await Promise.all([text(demo.child.stderr), demo.exit]);
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^\\nThe demo failed: .*${reason}.*\\n$`));
});

/** `npm run demo` beside a service: a process that knows its address and nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blocksOf } from '../docs/blocks.ts';
import { expectOutput } from '../docs/masks.ts';
import { MACHINE } from '../support/environment.ts';
import { ask, useService } from '../support/service.ts';

const DEMO = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url));
const app = useService();
const other = useService();

async function demo(sandboxPort: number) {
  const child = spawn(process.execPath, [DEMO], {
    env: {
      ...MACHINE,
      PORT: String(app.service.port),
      SANDBOX_PORT: String(sandboxPort),
      DATABASE_URL: app.config.databaseUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, stdout, stderr };
}

const countTenants = async () =>
  (await app.service.deps.db.query('select count(*)::int as count from tenants')).rows[0].count;

test('tells the whole story, and its sum is right', async () => {
  const { code, stdout, stderr } = await demo(app.sandbox.port);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [shown] = blocksOf('another test').filter(
    ({ page, text }) => page === 'docs/demos.md' && text.startsWith('Using the service'),
  );
  expectOutput(shown!.text, stdout.replaceAll('service.test', '127.0.0.1:8080'), shown!.where);
});

test('also when its address has used up its signups', async () => {
  for (let count = 0; count < 5; count += 1) {
    await ask(`${app.url}/v1/signup`, 'POST', { body: { name: 'Ada', email: 'ada@example.com' } });
  }
  const { code, stdout, stderr } = await demo(app.sandbox.port);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('admin tenants create');
  expect(stdout).toContain('Done: every micro-dollar is accounted for.');
});

test.each([
  ['nothing answers where the sandbox should', () => 1],
  ['the sandbox there is that of another service', () => other.sandbox.port],
])('says at once why it cannot pay, and leaves no tenant: %s', async (_, sandboxPort) => {
  const before = await countTenants();
  const { code, stdout, stderr } = await demo(sandboxPort());
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^\nThe demo failed: the service at http:\S+ does not use the sandbox at http:/);
  expect(await countTenants()).toBe(before);
});

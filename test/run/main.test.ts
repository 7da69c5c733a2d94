/** The service as `npm start` starts it: a process that reads the environment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../src/run/free-port.ts';
import { useDatabase } from '../support/database.ts';
import { MACHINE } from '../support/environment.ts';
import { openScratch } from '../support/scratch.ts';
import { ask } from '../support/service.ts';

const database = useDatabase();
const MAIN = fileURLToPath(new URL('../../src/run/main.ts', import.meta.url));

const start = (env: Record<string, string>) => {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...MACHINE,
      ...{
        DATABASE_URL: database.url,
        PAYMENTS: 'none',
        LOG_LEVEL: 'silent',
        PORT: '0',
        OPS_PORT: '0',
        GRPC_PORT: '0',
      },
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};

test('an external database needs SECRETS_KEY: one line, exit code 1', async () => {
  const child = start({});
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([code, said]).toStrictEqual([
    1,
    'SECRETS_KEY must be set when DATABASE_URL is: 32 bytes in base64, as `openssl rand -base64 32` prints\n',
  ]);
});

test('in production, a key of the test mode is warned of, and the demo is not recommended', async () => {
  const child = start({
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    PAYMENTS: 'stripe',
    STRIPE_SECRET_KEY: 'sk_test_of_nobody',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: 'http://127.0.0.1:1',
    SECRETS_KEY: Buffer.alloc(32, 3).toString('base64'),
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (part) => {
      said[name] += part;
    });
  }
  await expect.poll(() => said.stderr).toMatch(/Stop with Ctrl-C/);
  expect(said.stderr).toContain('Stripe, in test mode');
  expect(said.stderr).not.toContain('npm run demo');
  await expect.poll(() => said.stdout).toMatch(/"level":"warn".*STRIPE_SECRET_KEY is of the test mode/);
  expect(said.stdout).not.toContain('of_nobody');
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('prints the join address, and stops on a signal', async () => {
  const child = start({ SECRETS_KEY: Buffer.alloc(32, 3).toString('base64'), JOIN_PORT: '0' });
  const exited = once(child, 'exit');
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  await expect.poll(() => said).toMatch(/Stop with Ctrl-C/);
  const [, joinUrl] = /Joining +(http:\S+)\/join/.exec(said)!;
  expect((await ask(`${joinUrl}/join`, 'POST')).status).toBe(401);
  expect((await ask(`${joinUrl}/.well-known/jwks.json`, 'GET')).json.keys).toHaveLength(1);
  child.kill('SIGTERM');
  expect(await exited).toStrictEqual([0, null]);
});

test('a start whose output is no longer read serves, and stops on a signal that comes twice', async () => {
  const opsPort = await findFreePort('127.0.0.1');
  const child = start({
    SECRETS_KEY: Buffer.alloc(32, 3).toString('base64'),
    LOG_LEVEL: 'info',
    OPS_PORT: String(opsPort),
  });
  const exited = once(child, 'exit');
  const readiness = () =>
    ask(`http://127.0.0.1:${opsPort}/readyz`, 'GET').then(
      ({ status }) => status,
      () => 0,
    );
  await once(child.stdout, 'data');
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  await expect.poll(readiness).toBe(200);
  child.kill('SIGTERM');
  child.kill('SIGTERM');
  expect(await exited).toStrictEqual([0, null]);
});

test('without a mail server, the page after a log-in leads to the mailbox of the sandbox', async () => {
  const scratch = openScratch('boxoffice-main-');
  const child = start({
    SECRETS_KEY: Buffer.alloc(32, 3).toString('base64'),
    PAYMENTS: 'sandbox',
    SANDBOX_PORT: '0',
    DATA_DIR: scratch.folder,
  });
  const exited = once(child, 'exit');
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  await expect.poll(() => said).toMatch(/Stop with Ctrl-C/);
  const [, url = ''] = /Open (http:\S+) in a browser/.exec(said)!;
  const [, sandbox] = /no real money: (http:\S+)/.exec(said)!;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    origin: url,
    'sec-fetch-site': 'same-origin',
  };
  const asked = await ask(`${url}/console/login`, 'POST', { raw: 'email=a%40example.com', headers });
  expect(asked.text).toContain(`<a href="${sandbox}/mailbox">`);
  expect((await ask(`${sandbox}/mailbox`, 'GET')).text).toContain('No mail yet.');
  child.kill('SIGTERM');
  expect(await exited).toStrictEqual([0, null]);
  await scratch.remove();
});

/** `npx @boxoffice/sdk events`, as a program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as listen, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { verifyWebhook } from '../../../sdk/typescript/src/backend/verify-webhook.ts';
import { appendCounted } from '../../outward/webhooks/support.ts';
import { useService } from '../../support/service.ts';

const MAIN = join(import.meta.dirname, '../../../sdk/typescript/src/command/main.ts');

const app = useService();

interface Program {
  readonly process: ChildProcess;
  /** Its next line on standard output. */
  line(): Promise<string>;
  /** What it wrote on standard error, once it has ended. */
  failure(): Promise<string>;
}

function run(args: readonly string[], env: Record<string, string>): Program {
  const process_ = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void process_.kill('SIGKILL'));
  const lines = createInterface(process_.stdout)[Symbol.asyncIterator]();
  let errors = '';
  process_.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  return {
    process: process_,
    line: async () => (await lines.next()).value ?? '',
    failure: async () => {
      if (process_.exitCode === null) await once(process_, 'close');
      return errors;
    },
  };
}

/** A receiver on this machine. */
async function useReceiver() {
  const taken: { readonly headers: Record<string, string>; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    taken.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(taken.length === 1 ? 500 : 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` };
}

/** A way to the service that breaks when it is told to. */
async function useBreakingWay() {
  const open = new Set<Socket>();
  const server = listen((client) => {
    const service = connect(Number(new URL(app.url).port), '127.0.0.1');
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on('error', () => {});
    }
    client.pipe(service).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = () => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  onTestFinished(() => {
    breakAll();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, breakAll };
}

test('hands each event on once, signed with the secret that it prints, over a connection that breaks', async () => {
  const tenant = await app.signUp();
  const receiver = await useReceiver();
  const way = await useBreakingWay();
  const program = run(['events', '--url', way.url, '--forward-to', receiver.url, '--after', '0'], {
    BOXOFFICE_API_KEY: tenant.key,
  });
  const [, secret] = /signed with (whsec_\S+)$/.exec(await program.line())!;
  await appendCounted(app, tenant, 2);
  expect(await program.line()).toMatch(/^1 \w+: 500 in \d+ ms$/);
  expect(await program.line()).toMatch(/^2 \w+: 204 in \d+ ms$/);
  way.breakAll();
  await appendCounted(app, tenant, 1);
  expect(await program.line()).toMatch(/^3 \w+: 204 in \d+ ms$/);
  expect(receiver.taken).toHaveLength(3);
  for (const { headers, body } of receiver.taken) verifyWebhook(secret!, headers, body);
});

test('prints events as JSON without a receiver, only those of the types', async () => {
  const tenant = await app.signUp();
  await appendCounted(app, tenant, 2);
  const options = ['--url', app.url, '--after', '0', '--types', 'key_created'];
  const program = run(['events', ...options], { BOXOFFICE_API_KEY: tenant.key });
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'one' } });
  expect(JSON.parse(await program.line())).toMatchObject({ type: 'key_created', seq: 3 });
});

test.each([
  [[], {}, 'usage: npx @boxoffice/sdk events'],
  [['nothing'], {}, 'usage: npx @boxoffice/sdk events'],
  [['events'], {}, 'BOXOFFICE_API_KEY is not set'],
  [['events', '--url', 'ftp://x'], { BOXOFFICE_API_KEY: 'k' }, '--url must begin with http:// or https://'],
  [['events', '--after', '-1'], { BOXOFFICE_API_KEY: 'k' }, '--after'],
  [['events', '--url', 'SERVICE'], { BOXOFFICE_API_KEY: 'svc_nothing' }, '401 {"error":"invalid api key"}'],
])('%j with %j fails and says why', async (args, env, message) => {
  const program = run(
    args.map((each) => (each === 'SERVICE' ? app.url : each)),
    env as Record<string, string>,
  );
  expect(await program.failure()).toContain(message);
  expect(program.process.exitCode).toBe(1);
});

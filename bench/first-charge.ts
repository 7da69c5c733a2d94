/** How soon the first usage is charged after a clone. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Benchmark } from './benchmark.ts';
import { openFolder, ROOT, startIn } from './start.ts';

const NAME = 'clone to first charge';
const SECONDS_MAX = 30;
const ASK_EVERY_MS = 10;

export const firstCharge: Benchmark = {
  name: 'first-charge',
  summary: 'from git clone to the first charge, packages apart',
  protocol: `This checkout is cloned, without what is not committed. The packages of this checkout are linked into the clone, in
    place of npm ci, whose time is that of the network; its compile cache is empty. Then npm start, with ports of its own, an embedded
    PostgreSQL that is initialized and the sandbox; when it answers, a signup, a payment with a test card, a key for a relay, and a batch of one record.
    The result is seconds from the clone to the answer with the charge.`,
  async run(bench) {
    await bench.compare({
      title: 'to the first charge',
      unit: 's',
      contestants: [{ name: NAME, role: 'ours', round: async () => ({ value: await measure(bench) }) }],
      warmUpRounds: 0,
      goals: [{ of: NAME, atMost: SECONDS_MAX }],
    });
  },
};

async function measure(bench: Bench): Promise<number> {
  const clone = join(await openFolder(bench), 'clone');
  const begun = performance.now();
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  linkPackages(clone);
  const service = await startIn(bench, { dataDir: join(clone, 'data'), cwd: clone });
  await chargeFirst(service);
  const seconds = (performance.now() - begun) / 1000;
  await service.stop();
  return seconds;
}

/** All but the caches. */
function linkPackages(clone: string): void {
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(clone, 'node_modules'));
  for (const name of readdirSync(packages)) {
    if (name !== '.cache') symlinkSync(join(packages, name), join(clone, 'node_modules', name));
  }
}

/** Sign up, pay, create a key for a relay, and report a record. Returns the answer to the report. */
export async function chargeFirst({ url, sandbox }: { readonly url: string; readonly sandbox: string }) {
  const signup = { email: 'first@example.com', name: 'First' };
  const { api_key: key, checkout_url: page } = await ask(`${url}/v1/signup`, { body: signup });
  const [checkout] = /cs_test_\w+/.exec(page) ?? [];
  await ask(`${sandbox}/_sandbox/checkout/${checkout}/pay`, { body: { card: '4242424242424242' } });
  while (!(await ask(`${url}/v1/billing`, { key })).admitted) await sleep(ASK_EVERY_MS);
  const relay = await ask(`${url}/v1/keys`, { key, body: { name: 'relay', kind: 'relay' } });
  const usage = { role: 'audience', tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 };
  const record = { ...usage, id: 'first.1', room: 'lobby', participant: 'ann', ingress_bytes: 0 };
  return await ask(`${url}/v1/usage`, { key: relay.api_key, body: { records: [record] } });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function ask(url: string, { key, body }: { key?: string; body?: object }): Promise<any> {
  const answer = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

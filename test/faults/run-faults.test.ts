/** Which faults are counted: those that something has met. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lane } from '../../faults/inject/fault.ts';
import { FaultCounts, runFaults } from '../../faults/inject/run-faults.ts';
import { Journal } from '../../faults/journal.ts';
import { makePlan } from '../../faults/plan.ts';
import { PaymentProvider } from '../../faults/stage/provider.ts';
import { Receivers } from '../../faults/stage/receivers.ts';
import type { Stage } from '../../faults/stage/stage.ts';
import { openScratch, type Scratch } from '../support/scratch.ts';

let scratch: Scratch;
let stage: Pick<Stage, 'journal' | 'receivers' | 'provider'>;
let counts: FaultCounts;

beforeEach(async () => {
  scratch = openScratch('boxoffice-faults-');
  const journal = new Journal(join(scratch.folder, 'journal.jsonl'));
  const provider = new PaymentProvider();
  await provider.open([]);
  stage = { journal, provider, receivers: await Receivers.open(journal) };
  counts = new FaultCounts();
});

afterEach(async () => {
  stage.receivers.close();
  await stage.provider.close();
  await stage.journal.close();
  await scratch.remove();
});

/** Lets a fault happen until `meet` has met it, and be mended then. */
async function letHappen(name: string, lane: Lane, meet: () => Promise<unknown>): Promise<void> {
  const plan = makePlan({ seed: 1, minutes: 0.1, tenants: 1 });
  const faults = [{ name, lane, atMs: 0, seconds: 60, dice: 0 }];
  const stopping = new AbortController();
  const running = runFaults({ ...plan, faults }, stage as Stage, counts, stopping.signal);
  await expect.poll(() => counts.current.has(name)).toBe(true);
  await meet();
  stopping.abort();
  await running;
}

const REFUSES = 'a receiver of webhooks refuses';

async function deliver(path: string): Promise<void> {
  const body = JSON.stringify({ id: 'evt_1', seq: 1, type: 'key.created' });
  await fetch(stage.receivers.url(path), { method: 'POST', body });
}

test('a receiver that refuses counts if something was delivered to it', async () => {
  stage.receivers.set('/a', 'accept');
  await letHappen(REFUSES, 'receivers', () => deliver('/a'));
  expect([counts.total, counts.missedTotal]).toEqual([1, 0]);
});

test('a receiver that refuses does not count if nothing was delivered to it', async () => {
  stage.receivers.set('/a', 'accept');
  await letHappen(REFUSES, 'receivers', () => deliver('/b'));
  expect([counts.total, counts.missedTotal]).toEqual([0, 1]);
});

const FAILS = 'the provider fails';

test('a provider that fails counts if it was asked', async () => {
  const url = `http://127.0.0.1:${stage.provider.port}/v1/payment_intents`;
  const headers = { authorization: `Bearer ${stage.provider.secretKey}` };
  await letHappen(FAILS, 'provider', () => fetch(url, { headers }));
  expect([counts.total, counts.missedTotal]).toEqual([1, 0]);
});

test('a provider that fails does not count if it was not asked', async () => {
  await letHappen(FAILS, 'provider', async () => {});
  expect([counts.total, counts.missedTotal]).toEqual([0, 1]);
});

test('the journal says by how much a clock was wrong', async () => {
  const shifts: number[] = [];
  const service = { isRunning: true, shiftClock: (ms: number) => shifts.push(ms) };
  stage = { ...stage, service: () => service } as never;
  await letHappen('the clock of a service is wrong', 'first service', async () => {});
  await stage.journal.close();
  const [line] = (await readFile(stage.journal.path, 'utf8')).trim().split('\n');
  expect(shifts).toEqual([-3_600_000, 0]);
  expect(JSON.parse(line!).args).toMatchObject({ detail: 'first service', shiftMs: -3_600_000 });
});

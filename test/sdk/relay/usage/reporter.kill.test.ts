/**
 * Reporters that are killed: those of all SDKs, and one after the other in turns on one folder, because all keep the
 * same format.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BUILD_MS_MAX, findPython, findTool, RUST_TARGET, runTool } from '../../../../scripts/toolchains.ts';
import { seeded } from '../../../support/seeded.ts';
import { type Fault, Ledger, listen } from './usage-server.ts';

const ROUNDS = 30;

const TYPESCRIPT = [process.execPath, join(import.meta.dirname, 'run-reporter.ts')];
const go = findTool('go');
const cargo = findTool('cargo');
const python = await findPython();

interface Acknowledged {
  readonly seconds: number;
  readonly egressBytes: number;
  readonly ingressBytes: number;
}

let folder: string | undefined;
let relay: ChildProcess | undefined;
let closeService: (() => Promise<void>) | undefined;

afterEach(async () => {
  relay?.kill('SIGKILL');
  await closeService?.();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

/** Start a relay; resolves when it has ended, with what it printed. */
async function run(
  [program = '', ...options]: readonly string[],
  args: string[],
  onLine: (count: number) => void,
): Promise<string[]> {
  const child = spawn(program, [...options, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  relay = child;
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line);
    onLine(lines.length);
  });
  await once(child, 'close');
  return lines;
}

/** Kill a relay at many moments. `commandOf` is the program of a round. */
async function killInRounds(commandOf: (round: number) => readonly string[]): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'usage-kill-'));
  const random = seeded(20_260_301);
  const kill = () => relay?.kill('SIGKILL');
  const ledger = new Ledger();
  let sent = 0;
  /** Number of requests until the relay is killed. */
  let killIn = Number.POSITIVE_INFINITY;
  const service = await listen(ledger, (records) => {
    sent += records.length;
    killIn -= 1;
    if (killIn === 0) kill();
    const kinds: (Fault['kind'] | undefined)[] = ['refuse_connection', 'lose_answer', 'cut_answer', 'answer'];
    return kinds[Math.floor(random() * 12)];
  });
  closeService = service.close;

  /** Acknowledged records that were not yet charged when the relay died, over all rounds. */
  let leftOver = 0;
  const acknowledged = new Map<string, Acknowledged>();
  for (let round = 0; round < ROUNDS; round += 1) {
    // In turns: after a number of printed lines, after a number of requests, after a time.
    const killAfterLines = round % 3 === 0 ? 1 + Math.floor(random() * 200) : Number.POSITIVE_INFINITY;
    killIn = round % 3 === 1 ? 1 + Math.floor(random() * 10) : Number.POSITIVE_INFINITY;
    const killAfterMs = round % 3 === 2 ? Math.floor(random() * 150) : undefined;
    const lines = await run(commandOf(round), [folder, service.url, `r${round}`, `${round}`], (count) => {
      if (count === killAfterLines) kill();
      if (count === 1 && killAfterMs !== undefined) setTimeout(kill, killAfterMs);
    });
    expect(relay?.signalCode).toBe('SIGKILL');
    for (const line of lines.slice(1)) {
      const [id, seconds, egressBytes, ingressBytes] = line.split(' ');
      expect(acknowledged.has(id!)).toBe(false);
      acknowledged.set(id!, {
        seconds: Number(seconds),
        egressBytes: Number(egressBytes),
        ingressBytes: Number(ingressBytes),
      });
    }
    leftOver += [...acknowledged.keys()].filter((id) => !ledger.charged.has(id)).length;
  }
  killIn = Number.POSITIVE_INFINITY;
  const drained = await run(commandOf(ROUNDS), [folder, service.url, 'drain', '0'], () => undefined);
  expect(drained).toEqual(['open', '0']);

  const lost = [...acknowledged.keys()].filter((id) => !ledger.charged.has(id));
  expect(lost).toEqual([]);
  expect(ledger.conflicts).toEqual([]);
  for (const [id, { seconds, egressBytes, ingressBytes }] of acknowledged) {
    const charged = { seconds, egress_bytes: egressBytes, ingress_bytes: ingressBytes };
    expect(ledger.charged.get(id)).toMatchObject(charged);
  }
  // The relay names each of its intervals once. The same name under two ids was charged twice.
  const names = [...ledger.charged.values()].map((record) => record.participant);
  expect(new Set(names).size).toBe(names.length);

  // Checks that the test is meaningful: some records were left over, and some were sent twice.
  expect(acknowledged.size).toBeGreaterThan(500);
  expect(leftOver).toBeGreaterThan(ROUNDS);
  expect(sent).toBeGreaterThan(ledger.charged.size);
  // Any other charged record was being stored when the relay died.
  expect(ledger.charged.size - acknowledged.size).toBeLessThan(ROUNDS * 1_000);
}

describe('a relay that is killed at any moment loses no acknowledged record, and none is charged twice', {
  timeout: 300_000,
}, () => {
  it('in TypeScript', () => killInRounds(() => TYPESCRIPT));

  describe.skipIf(!go)('with Go', () => {
    let built: string;
    const inGo = () => [join(built, 'runreporter')];
    beforeAll(async () => {
      built = await mkdtemp(join(tmpdir(), 'usage-kill-go-'));
      await runTool('go', ['build', '-o', inGo()[0]!, './relay/internal/runreporter'], { folder: 'sdk/go' });
    }, 900_000);
    afterAll(() => rm(built, { recursive: true }));

    it('in Go', () => killInRounds(inGo));

    it('in TypeScript and Go in turns, on one folder', () =>
      killInRounds((round) => (round % 2 === 0 ? TYPESCRIPT : inGo())));
  });

  describe.skipIf(!cargo)('with Rust', () => {
    const inRust = [join(RUST_TARGET, 'debug/examples/run_reporter')];
    const builtFirst = async (commandOf: (round: number) => readonly string[]) => {
      const args = ['build', '--locked', '--example', 'run_reporter', '--features', 'relay'];
      await runTool('cargo', args, { folder: 'sdk/rust' });
      await killInRounds(commandOf);
    };

    it('in Rust', { timeout: BUILD_MS_MAX }, () => builtFirst(() => inRust));

    it('in TypeScript and Rust in turns, on one folder', { timeout: BUILD_MS_MAX }, () =>
      builtFirst((round) => (round % 2 === 0 ? TYPESCRIPT : inRust)),
    );
  });

  describe.skipIf(!python)('with Python', { timeout: 600_000 }, () => {
    const source = join(import.meta.dirname, '../../../../sdk/python');
    const inPython = ['env', `PYTHONPATH=${source}/src`, python!, `${source}/tests/run_reporter.py`];

    it('in Python', () => killInRounds(() => inPython));

    it('in TypeScript and Python in turns, on one folder', () =>
      killInRounds((round) => (round % 2 === 0 ? TYPESCRIPT : inPython)));
  });
});

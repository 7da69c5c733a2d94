/** What happens in a campaign, which its seed decides: which fault when, and what each client does one after another. */
import { type Choice, LANES, type Lane } from './inject/fault.ts';
import { FAULTS } from './inject/faults.ts';
import type { Kind } from './load/kind.ts';
import { KINDS } from './load/kinds.ts';
import { Random } from './random.ts';

export interface PlannedFault extends Choice {
  readonly name: string;
  readonly lane: Lane;
  /** Since the load began. A fault waits until the one before it in its lane is mended. */
  readonly atMs: number;
}

export interface PlannedStep {
  readonly pauseMs: number;
  /** For the kind of the client. */
  readonly step: unknown;
}

export interface PlannedClient {
  readonly number: number;
  readonly tenant: number;
  readonly kind: Kind;
  /** Without an end: a client takes one after another until the load ends. */
  steps(): Generator<PlannedStep>;
}

export interface Plan {
  readonly seed: number;
  readonly minutes: number;
  readonly tenants: number;
  /** In the order of their times. */
  readonly faults: readonly PlannedFault[];
  readonly clients: readonly PlannedClient[];
}

export interface PlanOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly tenants: number;
}

/** Seconds between two faults, on average. */
const PAUSE_SECONDS: Readonly<Record<Lane, number>> = {
  'first service': 15,
  'second service': 12,
  server: 30,
  connections: 2.5,
  'network of the first service': 6,
  'network of the second service': 6,
  provider: 3,
  receivers: 4,
};

/** Before the first fault. */
const CALM_MS = 2_000;

export function makePlan({ seed, minutes, tenants }: PlanOptions): Plan {
  const random = new Random(seed);
  const faults = LANES.flatMap((lane) => planLane(lane, random.fork(lane), minutes * 60_000));
  const clients: PlannedClient[] = [];
  for (let tenant = 0; tenant < tenants; tenant += 1)
    for (const kind of KINDS)
      for (let each = 0; each < kind.clients; each += 1)
        clients.push({
          number: clients.length,
          tenant,
          kind,
          steps: () => stepsOf(kind, random.fork(`${kind.name} ${each} of tenant ${tenant}`)),
        });
  return { seed, minutes, tenants, faults: faults.toSorted((a, b) => a.atMs - b.atMs), clients };
}

function planLane(lane: Lane, random: Random, endMs: number): PlannedFault[] {
  const rows = FAULTS.filter((fault) => fault.lane === lane);
  const weights = Object.fromEntries(rows.map(({ name, weight }) => [name, weight]));
  const planned: PlannedFault[] = [];
  const pauseMs = () => Math.round(random.wait(PAUSE_SECONDS[lane] * 1_000));
  for (let atMs = CALM_MS + pauseMs(); atMs < endMs; ) {
    const name = random.weighted(weights);
    const [min, max] = rows.find((row) => row.name === name)!.seconds;
    const seconds = min + random.number() * (max - min);
    planned.push({ name, lane, atMs, seconds, dice: random.number() });
    atMs += Math.round(seconds * 1_000) + pauseMs();
  }
  return planned;
}

function* stepsOf(kind: Kind, random: Random): Generator<PlannedStep> {
  for (;;) yield { pauseMs: Math.round(random.wait(kind.pauseSeconds * 1_000)), step: kind.draw(random) };
}

/** A campaign from its beginning to its report. */
import { once } from 'node:events';
import type { Campaign } from './check/check.ts';
import type { Control } from './controls.ts';
import { FaultCounts, runFaults } from './inject/run-faults.ts';
import { type Judgement, judge } from './judge.ts';
import type { Shared } from './load/client.ts';
import { GrpcClient } from './load/grpc.ts';
import { send } from './load/http.ts';
import { prepareTenant } from './load/prepare.ts';
import { startLoad } from './load/run-load.ts';
import { makePlan, type Plan, type PlanOptions } from './plan.ts';
import type { Report } from './report.ts';
import { settle } from './settle.ts';
import { DatabaseGone } from './stage/database.ts';
import { Stage } from './stage/stage.ts';
import { countTopUps, type TopUpCounts } from './top-ups.ts';

export interface CampaignOptions extends PlanOptions {
  /** Something that must be found. */
  readonly control?: Control | undefined;
  /** A folder that takes the journal, the logs and the database. */
  readonly keep?: string | undefined;
  readonly progress: (line: string) => void;
  readonly interrupted: AbortSignal;
}

const SECOND_MS = 1_000;
/** A provider's event that got lost is found within two minutes, and a listener that failed waits up to five. */
const SETTLED_WITHIN_SECONDS = 330;
const BROKEN_SECONDS = 40;
/** Lines of what clients did not expect. */
const LINES_MAX = 10;

export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { control, progress } = options;
  const whole = makePlan(options);
  const plan = { ...whole, faults: whole.faults.filter(({ name }) => !control?.without?.test(name)) };
  progress('starting PostgreSQL, the provider and two services');
  const stage = await Stage.open(control?.stage);
  try {
    return await run(plan, stage, options);
  } finally {
    await stage.close(options.keep);
  }
}

async function run(plan: Plan, stage: Stage, options: CampaignOptions): Promise<Report> {
  const { control, progress } = options;
  const begunAt = new Date();
  const givingUp = new AbortController();
  const grpc = stage.places.map(({ service }) => new GrpcClient(service.grpc));
  const counts = { records: 0, answers: 0 };
  const shared: Shared = { stage, grpc, tenants: [], counts, surprises: [], givesUp: givingUp.signal };
  const faults = new FaultCounts();
  let disturbed: Disturbed = { seconds: 0, controlled: undefined };
  let judged: Judged;
  try {
    for (let index = 0; index < plan.tenants; index += 1) await prepareTenant(index, shared);
    const load = await startLoad(plan, shared);
    disturbed = await disturb(plan, shared, faults, options);
    progress('mending');
    await stage.heal();
    await load.stop();
    judged = await settleAndCheck(plan, shared, begunAt, options);
  } catch (error) {
    if (!(error instanceof DatabaseGone)) throw error;
    judged = {
      problems: [error.message],
      looked: {},
      notLooked: ['any rule: the database was gone'],
      topUps: {},
    };
  } finally {
    givingUp.abort();
    for (const client of grpc) client.close();
  }
  return {
    plan,
    control,
    ...disturbed,
    counts,
    operations: stage.journal.counts,
    faults,
    ...judged,
  };
}

type Disturbed = Pick<Report, 'seconds' | 'controlled'>;

/** Resolves when the time is over. */
async function disturb(
  plan: Plan,
  shared: Shared,
  faults: FaultCounts,
  { control, progress, interrupted }: CampaignOptions,
): Promise<Disturbed> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), plan.minutes * 60_000);
  const end = AbortSignal.any([over.signal, interrupted]);
  const begun = performance.now();
  const seconds = () => Math.round((performance.now() - begun) / 1_000);
  const telling = setInterval(() => progress(describe(seconds(), shared, faults)), SECOND_MS);
  const running = runFaults(plan, shared.stage, faults, end);
  try {
    const controlled = await control?.run?.(shared.stage, shared, end);
    await aborted(end);
    return { seconds: seconds(), controlled };
  } finally {
    over.abort();
    await running;
    clearTimeout(timer);
    clearInterval(telling);
  }
}

type Judged = Judgement & { readonly topUps: TopUpCounts };

async function settleAndCheck(
  plan: Plan,
  shared: Shared,
  begunAt: Date,
  { control, progress }: CampaignOptions,
): Promise<Judged> {
  const { stage, tenants } = shared;
  const unsettled = await settle(stage, tenants.slice(0, plan.tenants), begunAt, {
    // What a control has broken may never settle.
    seconds: control === undefined ? SETTLED_WITHIN_SECONDS : BROKEN_SECONDS,
    progress: (left) => progress(left.length === 0 ? 'settled' : `settling: ${left.join(', ')}`),
  });
  const topUps = await countTopUps(stage.db);
  await stage.provider.writeBook(stage.journal);
  stage.journal.note('settled', {});
  await stage.journal.close();
  progress('checking');
  const { problems, looked, notLooked } = await judge(toCheck(shared));
  return {
    problems: [...stage.surprises, ...shared.surprises.slice(0, LINES_MAX), ...unsettled, ...problems],
    looked,
    notLooked,
    topUps,
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

function describe(seconds: number, { counts }: Shared, faults: FaultCounts): string {
  const current = [...faults.current].join(', ') || 'no fault';
  return `${seconds} s, ${counts.answers} answers, ${counts.records} records, ${faults.total} faults; now: ${current}`;
}

function toCheck({ stage, tenants }: Shared): Campaign {
  const keys = new Map(tenants.map(({ id, key }) => [id, key.plaintext]));
  const { url } = stage.service(0);
  return {
    journal: stage.journal.path,
    databaseUrl: stage.database.url('boxoffice'),
    reads: {
      tenants: [...keys.keys()],
      get: async (tenant, path) => {
        const { outcome, status, json } = await send(url, { method: 'GET', path, key: keys.get(tenant)! });
        if (outcome !== 'ok') throw new Error(`GET ${path}: ${status ?? 'no answer'}`);
        return json;
      },
    },
  };
}

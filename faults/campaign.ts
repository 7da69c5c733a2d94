/** A campaign from its beginning to its report. */
import { once } from 'node:events';
import { join } from 'node:path';
import type { Campaign } from './check/check.ts';
import type { Control } from './controls.ts';
import { readEnvironment } from './environment.ts';
import { FAULTS } from './inject/faults.ts';
import { FaultCounts, runFaults } from './inject/run-faults.ts';
import { type Judgement, judge } from './judge.ts';
import { keepReport } from './kept.ts';
import { JOURNAL } from './kept-files.ts';
import type { Shared } from './load/client.ts';
import { GrpcClient } from './load/grpc.ts';
import { prepareTenant } from './load/prepare.ts';
import { startLoad } from './load/run-load.ts';
import { makePlan, type Plan, type PlanOptions } from './plan.ts';
import type { Progress } from './progress.ts';
import { readsOf } from './reads.ts';
import { emptyReport, type Report } from './report.ts';
import { settle } from './settle.ts';
import { Gone, Missing } from './stage/gone.ts';
import type { LeftBehind } from './stage/left-behind.ts';
import { Stage } from './stage/stage.ts';
import { countTopUps } from './top-ups.ts';

export interface CampaignOptions {
  /** Something that must be found. */
  readonly control?: Control | undefined;
  /** A folder that takes the journal, the logs and the database. */
  readonly keep?: string | undefined;
  readonly progress: Progress;
  readonly left: LeftBehind;
  /** By a signal, which is the reason. Faults end at once, and what there is until then is checked. */
  readonly interrupted: AbortSignal;
}

/** A provider's event that got lost is found within two minutes, and a listener that failed waits up to five. */
const SETTLED_WITHIN_SECONDS = 330;
const BROKEN_SECONDS = 40;
/** Lines of what clients did not expect. */
const LINES_MAX = 10;

/** As the options say, without faults that would excuse what a control breaks. */
export function planCampaign(options: PlanOptions, control?: Control): Plan {
  const plan = makePlan(options);
  return { ...plan, faults: plan.faults.filter(({ name }) => !control?.without?.test(name)) };
}

/**
 * Returns a report also if the campaign itself fails; what still runs then ends with this process. Throws `Missing` if this machine cannot
 * show what the control breaks.
 */
export async function runCampaign(plan: Plan, options: CampaignOptions): Promise<Report> {
  const { control, keep, progress, left } = options;
  const begun = performance.now();
  const tookSeconds = () => Math.round((performance.now() - begun) / 1_000);
  progress.begin('starting PostgreSQL, the provider and two services');
  let report = emptyReport(plan, control, 'it did not begin');
  try {
    const stage = await Stage.open(left, control?.stage);
    report = { ...report, environment: await readEnvironment(stage.db) };
    const { keys, ...ran } = await run(plan, stage, options);
    report = { ...report, ...ran, tookSeconds: tookSeconds() };
    progress.begin(keep === undefined ? 'ending' : `copying the database to ${keep}`);
    await stage.close(keep);
    if (keep !== undefined) keepReport(keep, report, { secretsKey: stage.secretsKey, tenants: keys });
    return report;
  } catch (error) {
    if (error instanceof Missing) throw error;
    return { ...report, cutShort: describeFailure(error), tookSeconds: tookSeconds() };
  }
}

function describeFailure(error: unknown): string {
  return `the campaign itself failed: ${(error as Error).message}`;
}

/** `keys`: the plaintext of a backend key, by tenant. */
type Ran = Omit<Report, 'plan' | 'control' | 'environment' | 'tookSeconds'> & {
  readonly keys: Readonly<Record<string, string>>;
};

async function run(plan: Plan, stage: Stage, options: CampaignOptions): Promise<Ran> {
  const begunAt = new Date();
  const givingUp = new AbortController();
  const grpc = stage.places.map(({ service }) => new GrpcClient(service.grpc));
  const counts = { records: 0, answers: 0 };
  const shared: Shared = { stage, grpc, tenants: [], counts, surprises: [], givesUp: givingUp.signal };
  const disturbed: Disturbed = { seconds: 0, controlled: undefined, faults: new FaultCounts() };
  let checked: Checked = NOTHING_CHECKED;
  let cutShort: string | undefined;
  const { interrupted, progress } = options;
  for (const { name, findObstacle } of FAULTS) {
    const obstacle = findObstacle?.(stage);
    if (obstacle !== undefined) disturbed.faults.leftOut.set(name, obstacle);
  }
  // Ctrl-C in a terminal ends the services, too.
  interrupted.addEventListener('abort', () => {
    for (const { service } of stage.places) service.expectEnd();
  });
  try {
    progress.begin('signing tenants up', () => `${shared.tenants.length} of ${plan.tenants}`);
    for (let index = 0; index < plan.tenants; index += 1) await prepareTenant(index, shared);
    const load = await startLoad(plan, shared);
    await disturb(plan, shared, disturbed, options);
    progress.begin('mending');
    if (interrupted.aborted) await Promise.all(stage.places.map(({ service }) => service.stop()));
    await stage.heal();
    await load.stop();
    checked = await settleAndCheck(plan, shared, begunAt, options);
  } catch (error) {
    if (error instanceof Gone)
      checked = { ...NOTHING_CHECKED, problems: [error.message], foundBefore: [error.message] };
    else cutShort = describeFailure(error);
  } finally {
    givingUp.abort();
    await stage.journal.close();
    for (const client of grpc) client.close();
  }
  if (interrupted.aborted)
    cutShort = `ended by ${interrupted.reason} after ${disturbed.seconds} of ${Math.round(plan.minutes * 60)} s`;
  const keys = Object.fromEntries(shared.tenants.map(({ id, key }) => [id, key.plaintext]));
  return { ...disturbed, ...checked, cutShort, counts, operations: stage.journal.counts, keys };
}

/** What is known of the time in which faults happened. */
interface Disturbed {
  seconds: number;
  controlled: string | undefined;
  readonly faults: FaultCounts;
}

/** Resolves when the time is over. Throws `Gone` as soon as something cannot be mended any more. */
async function disturb(
  plan: Plan,
  shared: Shared,
  disturbed: Disturbed,
  { control, progress, interrupted }: CampaignOptions,
): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), plan.minutes * 60_000);
  const end = AbortSignal.any([over.signal, interrupted]);
  const begun = performance.now();
  progress.begin('faults', () => describe(shared, disturbed));
  const running = runFaults(plan, shared.stage, disturbed.faults, end);
  // Its error is thrown below, once the control has ended.
  running.catch(() => over.abort());
  try {
    disturbed.controlled = await control?.run?.(shared.stage, shared, end);
    await aborted(end);
  } finally {
    disturbed.seconds = Math.round((performance.now() - begun) / 1_000);
    over.abort();
    clearTimeout(timer);
    await running;
  }
}

type Checked = Judgement & Pick<Report, 'topUps' | 'foundBefore'>;

const NOTHING_CHECKED: Checked = {
  problems: [],
  foundBefore: [],
  looked: {},
  notLooked: ['any rule: the campaign ended before the check'],
  topUps: {},
};

async function settleAndCheck(
  plan: Plan,
  shared: Shared,
  begunAt: Date,
  { control, progress, keep }: CampaignOptions,
): Promise<Checked> {
  const { stage, tenants } = shared;
  let waitsFor: readonly string[] = [];
  progress.begin('settling', () => waitsFor.join(', '));
  const { unsettled, at } = await settle(stage, tenants.slice(0, plan.tenants), begunAt, {
    // What a control has broken may never settle.
    seconds: control === undefined ? SETTLED_WITHIN_SECONDS : BROKEN_SECONDS,
    progress: (left) => {
      waitsFor = left;
    },
  });
  const topUps = await countTopUps(stage.db);
  await stage.provider.writeBook(stage.journal);
  stage.journal.note('settled', { at: at.toISOString() });
  await stage.journal.close();
  const foundBefore = [...stage.surprises, ...shared.surprises.slice(0, LINES_MAX), ...unsettled];
  const { problems, ...judgement } = await judge(toCheck(shared, keep), progress);
  return { ...judgement, problems: [...foundBefore, ...problems], foundBefore, topUps };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

function describe({ counts }: Shared, { faults }: Disturbed): string {
  const current = [...faults.current].join(', ') || 'no fault';
  return `${counts.answers} answers, ${counts.records} records, ${faults.total} faults; now: ${current}`;
}

function toCheck({ stage, tenants }: Shared, keep: string | undefined): Campaign {
  return {
    journal: stage.journal.path,
    ...(keep !== undefined && { keptAs: join(keep, JOURNAL) }),
    databaseUrl: stage.database.url('boxoffice'),
    reads: readsOf(
      stage.service(0).url,
      new Map(tenants.map(({ id, key }) => [id, key.plaintext])),
      stage.places.map(({ service }) => service.logFile),
    ),
  };
}

/** A campaign from its beginning to its report. */
import { once } from 'node:events';
import type { Campaign } from './check/check.ts';
import type { Control } from './controls.ts';
import { readEnvironment } from './environment.ts';
import { FaultCounts, runFaults } from './inject/run-faults.ts';
import { type Judgement, judge } from './judge.ts';
import type { Shared } from './load/client.ts';
import { GrpcClient } from './load/grpc.ts';
import { type HttpRequest, send } from './load/http.ts';
import { prepareTenant } from './load/prepare.ts';
import { startLoad } from './load/run-load.ts';
import { cookieOf, exchangeKey } from './load/sessions.ts';
import { makePlan, type Plan, type PlanOptions } from './plan.ts';
import { emptyReport, type Report } from './report.ts';
import { settle } from './settle.ts';
import { Gone, Missing } from './stage/gone.ts';
import { Stage } from './stage/stage.ts';
import { countTopUps, type TopUpCounts } from './top-ups.ts';

export interface CampaignOptions {
  /** Something that must be found. */
  readonly control?: Control | undefined;
  /** A folder that takes the journal, the logs and the database. */
  readonly keep?: string | undefined;
  readonly progress: (line: string) => void;
  /** By a signal, which is the reason. Faults end at once, and what there is until then is checked. */
  readonly interrupted: AbortSignal;
}

const SECOND_MS = 1_000;
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
  const { control, keep, progress } = options;
  const begun = performance.now();
  const tookSeconds = () => Math.round((performance.now() - begun) / 1_000);
  progress('starting PostgreSQL, the provider and two services');
  let report = emptyReport(plan, control, 'it did not begin');
  try {
    const stage = await Stage.open(control?.stage);
    report = { ...report, environment: await readEnvironment(stage.db) };
    report = { ...report, ...(await run(plan, stage, options)), tookSeconds: tookSeconds() };
    await stage.close(keep);
    return report;
  } catch (error) {
    if (error instanceof Missing) throw error;
    return { ...report, cutShort: describeFailure(error), tookSeconds: tookSeconds() };
  }
}

function describeFailure(error: unknown): string {
  return `the campaign itself failed: ${(error as Error).message}`;
}

type Ran = Omit<Report, 'plan' | 'control' | 'environment' | 'tookSeconds'>;

async function run(plan: Plan, stage: Stage, options: CampaignOptions): Promise<Ran> {
  const begunAt = new Date();
  const givingUp = new AbortController();
  const grpc = stage.places.map(({ service }) => new GrpcClient(service.grpc));
  const counts = { records: 0, answers: 0 };
  const shared: Shared = { stage, grpc, tenants: [], counts, surprises: [], givesUp: givingUp.signal };
  const disturbed: Disturbed = { seconds: 0, controlled: undefined, faults: new FaultCounts() };
  let checked: Checked = NOTHING_CHECKED;
  let cutShort: string | undefined;
  const { interrupted } = options;
  // Ctrl-C in a terminal ends the services, too.
  interrupted.addEventListener('abort', () => {
    for (const { service } of stage.places) service.expectEnd();
  });
  try {
    for (let index = 0; index < plan.tenants; index += 1) await prepareTenant(index, shared);
    const load = await startLoad(plan, shared);
    await disturb(plan, shared, disturbed, options);
    options.progress('mending');
    if (interrupted.aborted) await Promise.all(stage.places.map(({ service }) => service.stop()));
    await stage.heal();
    await load.stop();
    checked = await settleAndCheck(plan, shared, begunAt, options);
  } catch (error) {
    if (error instanceof Gone) checked = { ...NOTHING_CHECKED, problems: [error.message] };
    else cutShort = describeFailure(error);
  } finally {
    givingUp.abort();
    for (const client of grpc) client.close();
  }
  if (interrupted.aborted)
    cutShort = `ended by ${interrupted.reason} after ${disturbed.seconds} of ${Math.round(plan.minutes * 60)} s`;
  return { ...disturbed, ...checked, cutShort, counts, operations: stage.journal.counts };
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
  const count = () => {
    disturbed.seconds = Math.round((performance.now() - begun) / 1_000);
  };
  const telling = setInterval(() => {
    count();
    progress(describe(shared, disturbed));
  }, SECOND_MS);
  const running = runFaults(plan, shared.stage, disturbed.faults, end);
  // Its error is thrown below, once the control has ended.
  running.catch(() => over.abort());
  try {
    disturbed.controlled = await control?.run?.(shared.stage, shared, end);
    await aborted(end);
    count();
  } finally {
    over.abort();
    clearTimeout(timer);
    clearInterval(telling);
    await running;
  }
}

type Checked = Judgement & { readonly topUps: TopUpCounts };

const NOTHING_CHECKED: Checked = {
  problems: [],
  looked: {},
  notLooked: ['any rule: the campaign ended before the check'],
  topUps: {},
};

async function settleAndCheck(
  plan: Plan,
  shared: Shared,
  begunAt: Date,
  { control, progress }: CampaignOptions,
): Promise<Checked> {
  const { stage, tenants } = shared;
  const { unsettled, at } = await settle(stage, tenants.slice(0, plan.tenants), begunAt, {
    // What a control has broken may never settle.
    seconds: control === undefined ? SETTLED_WITHIN_SECONDS : BROKEN_SECONDS,
    progress: (left) => progress(left.length === 0 ? 'settled' : `settling: ${left.join(', ')}`),
  });
  const topUps = await countTopUps(stage.db);
  await stage.provider.writeBook(stage.journal);
  stage.journal.note('settled', { at: at.toISOString() });
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

function describe({ counts }: Shared, { seconds, faults }: Disturbed): string {
  const current = [...faults.current].join(', ') || 'no fault';
  return `${seconds} s, ${counts.answers} answers, ${counts.records} records, ${faults.total} faults; now: ${current}`;
}

function toCheck({ stage, tenants }: Shared): Campaign {
  const keys = new Map(tenants.map(({ id, key }) => [id, key.plaintext]));
  const { url } = stage.service(0);
  const get = async (path: string, by: Pick<HttpRequest, 'key' | 'cookie' | 'accept'>) => {
    const reply = await send(url, { method: 'GET', path, ...by });
    if (reply.outcome !== 'ok') throw new Error(`GET ${path}: ${reply.status ?? 'no answer'}`);
    return reply;
  };
  return {
    journal: stage.journal.path,
    databaseUrl: stage.database.url('boxoffice'),
    reads: {
      tenants: [...keys.keys()],
      get: async (tenant, path) => (await get(path, { key: keys.get(tenant)! })).json,
      text: async (tenant, path, accept) => (await get(path, { key: keys.get(tenant)!, accept })).text,
      console: async (tenant, path) => {
        const cookie = cookieOf(await exchangeKey(url, keys.get(tenant)!));
        return (await get(path, { cookie: cookie ?? '' })).text;
      },
    },
  };
}

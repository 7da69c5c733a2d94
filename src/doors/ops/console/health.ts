/** Whether each part of the service is well, and what to do if it is not. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Overview } from '../../../access/operators/get-overview.ts';
import type { DatabaseServer } from '../../../base/db/away-servers.ts';
import type { Health } from '../../../outward/health/get-health.ts';
import { COUNTED_MAX } from '../../../outward/mail/mail.ts';

/** What the database says, and the processes behind this port. */
export interface Measured extends Health, Pick<Overview, 'lags' | 'drift' | 'parked'> {
  /** Whether payments are configured. */
  readonly hasProvider: boolean;
  /** Those of the database that have tenants, where there are several. */
  readonly servers: readonly DatabaseServer[];
  /** Metrics of the processes behind this port, in the text format of Prometheus. */
  readonly metrics: string;
}

export interface Check {
  readonly name: string;
  readonly look: 'good' | 'warn' | 'bad';
  readonly figures: string;
  /** One sentence on what to do, unless it is good. */
  readonly advice?: Html;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** No comparison with the provider for so long: one is due each hour. */
const OLD_COMPARISON_SECONDS = 7_500;
/** So many webhooks that are paused within an hour are no coincidence. */
const MANY_PAUSED = 10;
const MB = 2 ** 20;

export function judge(measured: Measured): Check[] {
  return [
    judgeListeners(measured),
    judgeWebhooks(measured),
    judgeComparison(measured),
    judgeUnknown(measured),
    judgeParked(measured),
    judgeCharging(measured),
    judgeMails(measured),
    judgeConnections(measured),
    judgeTransactions(measured),
    ...(measured.servers.length > 0 ? [judgeServers(measured.servers)] : []),
    judgeStandby(measured),
    judgeSize(measured),
    judgeMigrations(measured),
  ];
}

/** A file of the repository, which the service does not serve. */
function inDocs(place: string): Html {
  return html`see <code>docs/${place}</code> in the repository`;
}

function lookOf(value: number, warn: number, bad: number): Check['look'] {
  if (value >= bad) return 'bad';
  return value >= warn ? 'warn' : 'good';
}

function checked(name: string, look: Check['look'], figures: string, advice: Html): Check {
  return { name, look, figures, ...(look !== 'good' && { advice }) };
}

/** `90 s`, `12 min`, `5 h`. */
export function spanText(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${Math.floor(seconds)} s`;
  return seconds < 2 * HOUR ? `${Math.floor(seconds / MINUTE)} min` : `${Math.floor(seconds / HOUR)} h`;
}

const sizeText = (bytes: number) => `${Math.ceil(bytes / MB).toLocaleString('en-US')} MB`;
const upTo = (count: number) => (count >= COUNTED_MAX ? `${COUNTED_MAX} or more` : `${count}`);

function judgeListeners({ lags }: Measured): Check {
  const slowest = lags.reduce((worst, { seconds }) => Math.max(worst, seconds), 0);
  const names = lags.filter(({ seconds }) => seconds >= MINUTE).map(({ listener }) => listener);
  const figures = names.length === 0 ? 'none is behind' : `${names.join(', ')}: ${spanText(slowest)} behind`;
  return checked(
    'Listeners',
    lookOf(slowest, MINUTE, 15 * MINUTE),
    figures,
    html`Look for <code>a listener failed</code> in the log, which names the tenant: ${inDocs('metrics.md#metrics')}.`,
  );
}

function judgeWebhooks({ webhooks: { paused, newlyPaused, waitingSeconds } }: Measured): Check {
  const waits = lookOf(waitingSeconds, 5 * MINUTE, 30 * MINUTE);
  const look = waits === 'good' && newlyPaused >= MANY_PAUSED ? 'warn' : waits;
  return checked(
    'Webhooks',
    look,
    `${paused} paused by failures, ${newlyPaused} of them within an hour; the oldest undelivered event, among those of up to a thousand webhooks, waits ${spanText(waitingSeconds)}`,
    waits === 'good'
      ? html`Many receivers fail at once, so look at your own network and DNS first: ${inDocs('webhook-delivery.md')}.`
      : html`Deliveries are slow or do not run, so look at the lanes, and start another process if they are full: ${inDocs('webhook-delivery.md#lanes')}.`,
  );
}

function judgeComparison({ hasProvider, drift }: Measured): Check {
  const name = 'Payment provider';
  if (!hasProvider) return { name, look: 'good', figures: 'payments are not configured' };
  // Without a row there is no process that compares; without an age, none has succeeded yet.
  const age = drift?.ageSeconds ?? null;
  const differences = drift?.differences ?? 0;
  const isOld = age !== null && age > OLD_COMPARISON_SECONDS;
  const figures =
    age === null
      ? 'never compared'
      : `compared ${spanText(age)} ago, ${differences === 0 ? 'nothing differs' : `${differences} differ`}`;
  const look = isOld ? 'bad' : differences > 0 || age === null ? 'warn' : 'good';
  return checked(
    name,
    look,
    figures,
    differences > 0
      ? html`Run <code>npm run admin -- verify --payments</code>, which names what differs: ${inDocs('troubleshooting.md')}.`
      : html`A comparison is due each hour, so find out in the log why none succeeds: ${inDocs('metrics.md#metrics')}.`,
  );
}

function judgeUnknown({ unknown: { attempts, oldestSeconds } }: Measured): Check {
  return checked(
    'Charges of unknown outcome',
    attempts === 0 ? 'good' : lookOf(oldestSeconds, 15 * MINUTE, 12 * HOUR),
    attempts === 0 ? 'none' : `${attempts}, the oldest for ${spanText(oldestSeconds)}`,
    html`The provider did not answer and is asked again: look at the <a href="/console/payments?state=unknown">attempts</a>, and ${inDocs('top-ups.md#when-the-outcome-is-unknown')}.`,
  );
}

function judgeParked({ parked: { parked, failing } }: Measured): Check {
  return checked(
    'Parked payments',
    parked > 0 ? 'bad' : failing > 0 ? 'warn' : 'good',
    `${parked} parked, ${failing} tried again`,
    parked > 0
      ? html`Those who paid have no credit yet: settle or dismiss each payment at <a href="/console/payments">Payments</a>.`
      : html`They are tried again by themselves; if they stay for ten minutes, <a href="/console/payments">Payments</a> says why they fail.`,
  );
}

function judgeCharging({ metrics, database: { waitingForLocks } }: Measured): Check {
  const queued = readMetric(metrics, 'boxoffice_charge_queue_records');
  const waitingForPool = readMetric(metrics, 'boxoffice_pool_connections{state="waiting"}');
  return checked(
    'Charging and connections',
    lookOf(Math.max(waitingForPool, waitingForLocks), 10, 100),
    `${queued.toLocaleString('en-US')} usage records in charge queues and ${waitingForPool} requests that wait for a connection, in the processes behind this port; ${waitingForLocks} statements of all processes wait for a lock`,
    html`The database is slow, or something holds locks for long: ${inDocs('troubleshooting.md')}.`,
  );
}

/** A metric without further labels; of several workers, it is their sum. */
function readMetric(metrics: string, name: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

function judgeMails({ mails: { waiting, retried, oldestSeconds, failed } }: Measured): Check {
  const waits = waiting === 0 ? 'good' : lookOf(oldestSeconds, 15 * MINUTE, 2 * HOUR);
  return checked(
    'Mails',
    waits === 'good' && failed > 0 ? 'warn' : waits,
    `${upTo(waiting)} wait, ${retried} after a failure${waiting > 0 ? `, the oldest for ${spanText(oldestSeconds)}` : ''}; ${upTo(failed)} failed within a day`,
    html`Look for <code>a mail was not sent</code> in the log, which says what the mail server answered: ${inDocs('mail.md#for-operators')}.`,
  );
}

function judgeConnections({ database: { connections, connectionsMax, processes } }: Measured): Check {
  const percent = Math.round((connections / Math.max(connectionsMax, 1)) * 100);
  return checked(
    'Database connections',
    lookOf(percent, 80, 95),
    `${connections} of ${connectionsMax}, to all databases of the server; live processes of the service: ${processes}`,
    html`Raise <code>max_connections</code>, or give each machine fewer: ${inDocs('processes.md#database-connections')}.`,
  );
}

function judgeTransactions({ database: { oldestSeconds } }: Measured): Check {
  return checked(
    'Oldest transaction',
    lookOf(oldestSeconds, 15 * MINUTE, 3 * HOUR),
    spanText(oldestSeconds),
    html`An export or a verification may take so long; anything else keeps dead rows from being removed, so find it in <code>pg_stat_activity</code> and end it: ${inDocs('troubleshooting.md')}.`,
  );
}

/** Judges each of several servers; the coordinator is not among them. */
export function judgeServers(servers: readonly DatabaseServer[]): Check {
  const away = servers.filter(({ awaySeconds }) => awaySeconds !== null);
  const names = away.map(({ name, awaySeconds }) => `${name} is away for ${spanText(awaySeconds!)}`);
  return checked(
    'Database servers',
    away.length > 0 ? 'bad' : 'good',
    away.length > 0 ? `${names.join(', ')}; of ${servers.length}` : `${servers.length} answer`,
    html`Its tenants get 503, and no tenant can sign up or change keys, until it is back, so start it or mend the network: ${inDocs('runbook.md#boxofficedatabaseserveraway')}.`,
  );
}

function judgeStandby({ database: { standbys, lagBytes, lagSeconds } }: Measured): Check {
  const name = 'Standby';
  if (standbys === 0) return { name, look: 'good', figures: 'none follows' };
  if (lagSeconds === null)
    return checked(
      name,
      'warn',
      `${standbys}, of unknown lag`,
      html`The role of the service may not see how far it is: <code>grant pg_monitor</code> to that role, and ${inDocs('high-availability.md#by-hand')}.`,
    );
  return checked(
    name,
    lookOf(lagSeconds, 10, 5 * MINUTE),
    `${standbys}; the last one is ${spanText(lagSeconds)} and ${sizeText(lagBytes ?? 0)} behind`,
    html`Its disk or the network is slow, or it has stopped: ${inDocs('high-availability.md#by-hand')}.`,
  );
}

function judgeSize({ database: { bytes, isCoordinator } }: Measured): Check {
  return {
    name: 'Size of the database',
    look: 'good',
    figures: `${sizeText(bytes)}${isCoordinator ? ', of the coordinator alone' : ''}`,
  };
}

function judgeMigrations({ stale }: Measured): Check {
  return checked(
    'Migrations',
    stale === undefined ? 'good' : stale.isNewer ? 'warn' : 'bad',
    stale?.why ?? 'all ran',
    html`Start the same version everywhere: ${inDocs('procedures.md#upgrades')}.`,
  );
}

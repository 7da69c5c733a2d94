/**
 * The table of all repeated background work of this process.
 *
 * Pending work is always a row in the database, so any number of processes can run the same table, and a
 * process that dies loses nothing.
 */
import { USES_WRITTEN_SECONDS } from '../access/keys/last-uses.ts';
import { tellRetiringKeys } from '../access/keys/tell-retiring-keys.ts';
import { rotateOnSchedule } from '../access/tokens/rotate-signing-keys.ts';
import { hasSeveralServers } from '../base/db/database-servers.sql.ts';
import { analyzeGrownTables } from '../base/db/grown-tables.sql.ts';
import type { Pool } from '../base/db/pool.ts';
import { repeat } from '../base/lib/repeat.ts';
import { BEAT_SECONDS, type OwnProcess } from '../base/processes/own-process.ts';
import { coveringTokens } from '../control/budgets/cover-tokens.ts';
import { givingBackExpired } from '../control/budgets/give-back.ts';
import { credentialListener } from '../control/moderation/credential-listener.ts';
import { reapplyNewBans } from '../control/moderation/reapply-new-bans.ts';
import { reapplyNewRevocations } from '../control/moderation/reapply-new-revocations.ts';
import { advanceErasures } from '../control/people/advance-erasures.ts';
import { tellExpiredParticipants } from '../control/rooms/tell-expired-participants.ts';
import { assigningUsage } from '../control/sessions/assign-usage.ts';
import { findAssignedUntil } from '../control/sessions/session-cursors.sql.ts';
import { sessionListener } from '../control/sessions/session-listener.ts';
import { measureSessions } from '../control/sessions/session-metrics.ts';
import { LOOK_EVERY_SECONDS, watch } from '../control/watchdogs/watch.ts';
import { watchdogListener } from '../control/watchdogs/watchdog-listener.ts';
import type { Deps } from '../doors/deps.ts';
import type { Listener } from '../events/listener.ts';
import { numberLeftEvents } from '../events/number-events.ts';
import { ListenerTurns, measureLags } from '../events/run-listeners.ts';
import { upsertListener } from '../events/turns.sql.ts';
import { measureBurns } from '../money/alerts/measure-burn.ts';
import { learnCards } from '../money/cards/learn-cards.ts';
import { tellExpiringCards } from '../money/cards/tell-expiring-cards.ts';
import { checkoutListener, expireCheckouts } from '../money/checkouts/expire-checkouts.ts';
import { endingGrants } from '../money/grants/end-grants.ts';
import { measureParkedEvents } from '../money/parked/measure-parked-events.ts';
import type { Provider } from '../money/payments/provider.ts';
import { watchRates } from '../money/pricing/watch-rates.ts';
import { EventSweeper } from '../money/provider-events/event-sweeper.ts';
import { measureArchive } from '../money/records/archive-metrics.ts';
import { archivingRecords } from '../money/records/archive-records.ts';
import { tellingStatements } from '../money/statements/tell-statements.ts';
import { foldUsage } from '../money/usage/fold-usage.ts';
import { rollingUpUsage } from '../money/usage/roll-up-usage.ts';
import { tellWaitingConflicts } from '../money/usage/tell-conflicts.ts';
import { watchLedger } from '../money/verification/watch-ledger.ts';
import { watchProvider } from '../money/verification/watch-provider.ts';
import { mailListener } from '../outward/mail/mail-listener.ts';
import { expireLinks, sendMails } from '../outward/mail/send-mails.ts';
import type { DeliveryRules } from '../outward/webhooks/delivery-turn.ts';
import { measureWebhooks } from '../outward/webhooks/measure-webhooks.ts';
import { WebhookWorker } from '../outward/webhooks/webhook-worker.ts';

import { sweep } from './sweep.ts';
import { watchServers } from './watch-servers.ts';

/** Components that react to events. */
const LISTENERS: readonly Listener<Deps>[] = [
  watchdogListener,
  credentialListener,
  sessionListener,
  checkoutListener,
  mailListener,
];

/**
 * Each lane runs by itself, so that a call that hangs delays no other tenant. The provider allows 25 calls a
 * second.
 */
const TOP_UP_LANES = 4;

/**
 * Between the first turns of two loops. Loops that start together would each open a database connection, and
 * plan their statements on it. One after another, most of them use the same connection.
 */
const BETWEEN_LOOPS_MS = 40;

/** A slow mail server delays only the mails behind it. */
const MAIL_LANES = 2;

interface Job {
  /** Name in the log: "... failed". */
  readonly name: string;
  readonly everySeconds: number;
  readonly turn: Parameters<typeof repeat>[1];
  /** How many loops run it concurrently. */
  readonly lanes?: number;
  /** What wakes it, other than the timer. */
  readonly wokenBy?: 'events' | 'top-ups' | 'mails';
}

/** What background work has beside the operations. */
export interface Beside {
  readonly process: OwnProcess;
  /** As in `Pools`. */
  readonly watchDb: Pool;
}

/** What reacts to events. */
interface Reacting extends Beside {
  readonly listeners: readonly ListenerTurns<Deps>[];
  readonly webhooks: WebhookWorker;
}

/** In the order of their first turns: first what people wait for. A long turn ends early when `stopping` is aborted. */
function jobsOf(
  deps: Deps,
  { process, watchDb, listeners, webhooks }: Reacting,
  ratesFile: string | undefined,
  stopping: AbortSignal,
): readonly Job[] {
  const { db, provider } = deps;
  const sweeper = provider && new EventSweeper(deps, provider);
  return [
    // Top-ups wait for the first sweep.
    ...(sweeper ? [sweepingEvents(sweeper)] : []),
    { name: 'looking at watchdogs', everySeconds: LOOK_EVERY_SECONDS, turn: (soon) => watch(deps, soon) },
    { name: 'numbering events', everySeconds: 1, turn: () => numberLeftEvents(deps) },
    ...listeners.map((turns) => ({
      name: `the listener ${turns.name}`,
      everySeconds: 1,
      turn: () => turns.take(),
      wokenBy: 'events' as const,
    })),
    {
      name: 'telling other processes that this one lives',
      everySeconds: BEAT_SECONDS,
      turn: () => beat(process, webhooks),
    },
    ...(hasSeveralServers()
      ? [{ name: 'looking at servers', everySeconds: 1, turn: () => watchServers(watchDb, deps.metrics) }]
      : []),
    { name: 'looking at webhooks', everySeconds: 1, turn: () => webhooks.lookAtAll() },
    { name: 'checking the ledger', everySeconds: 15, turn: watchLedger(deps) },
    { name: 'rotating signing keys', everySeconds: 60, turn: () => rotateOnSchedule(db, deps.box) },
    { name: 'analyzing grown tables', everySeconds: 5, turn: () => analyzeGrownTables(db) },
    { name: 'deleting old rows', everySeconds: 300, turn: () => sweep(deps) },
    { name: 'adding up usage', everySeconds: 5, turn: () => foldUsage(deps) },
    { name: 'assigning usage to sessions', everySeconds: 1, turn: assigningUsage(deps, stopping) },
    { name: 'rolling up usage', everySeconds: 300, turn: rollingUpUsage(deps) },
    {
      name: 'archiving usage records',
      everySeconds: deps.config.archiveAfterSeconds === 0 ? 1 : 60,
      turn: archivingRecords(deps, stopping),
    },
    { name: 'measuring usage for alerts', everySeconds: 5, turn: () => measureBurns(deps) },
    { name: 'measuring listeners', everySeconds: 5, turn: () => measureLags(deps) },
    { name: 'measuring sessions', everySeconds: 15, turn: () => measureSessions(deps) },
    { name: 'measuring the archive', everySeconds: 60, turn: () => measureArchive(deps) },
    { name: 'measuring webhooks', everySeconds: 15, turn: () => measureWebhooks(deps) },
    { name: 'telling of retiring keys', everySeconds: 60, turn: () => tellRetiringKeys(deps) },
    { name: 'telling of conflicting reports', everySeconds: 60, turn: () => tellWaitingConflicts(deps) },
    { name: 'telling of statements', everySeconds: 60, turn: tellingStatements(deps) },
    { name: 'ending grants', everySeconds: 5, turn: endingGrants(deps) },
    { name: 'telling of expiring cards', everySeconds: 300, turn: () => tellExpiringCards(deps) },
    { name: 'sweeping participants', everySeconds: 1, turn: () => tellExpiredParticipants(deps) },
    { name: 'applying new bans again', everySeconds: 1, turn: () => reapplyNewBans(deps) },
    { name: 'applying new revocations again', everySeconds: 5, turn: () => reapplyNewRevocations(deps) },
    {
      name: 'giving back holds of budgets',
      everySeconds: 5,
      turn: givingBackExpired(deps, findAssignedUntil),
    },
    { name: 'covering tokens by new budgets', everySeconds: 5, turn: coveringTokens(deps) },
    { name: 'erasing people', everySeconds: 1, turn: (soon) => advanceErasures(deps, soon) },
    {
      name: 'sending mails',
      everySeconds: 1,
      turn: () => sendMails(deps, stopping),
      lanes: MAIL_LANES,
      wokenBy: 'mails',
    },
    { name: 'expiring links of mails', everySeconds: 5, turn: () => expireLinks(deps) },
    {
      name: 'writing when keys were last used',
      everySeconds: USES_WRITTEN_SECONDS,
      turn: () => deps.lastUses.write(),
    },
    { name: 'writing sightings', everySeconds: 1, turn: () => deps.sightings.write() },
    ...(ratesFile
      ? [{ name: 'reading the rates file', everySeconds: 5, turn: watchRates(deps, ratesFile) }]
      : []),
    ...(provider && sweeper ? jobsOfPayments(deps, provider, sweeper, stopping) : []),
  ];
}

const sweepingEvents = (sweeper: EventSweeper): Job => ({
  name: 'sweeping provider events',
  everySeconds: 120,
  turn: (soon) => sweeper.sweep(soon),
});

function jobsOfPayments(
  deps: Deps,
  provider: Provider,
  sweeper: EventSweeper,
  stopping: AbortSignal,
): readonly Job[] {
  return [
    {
      name: 'automatic top-ups',
      everySeconds: 1,
      turn: () => sweeper.runTopUps(),
      lanes: TOP_UP_LANES,
      wokenBy: 'top-ups',
    },
    {
      name: 'closing payment pages of deleted tenants',
      everySeconds: 5,
      turn: () => expireCheckouts(deps, provider),
    },
    { name: 'learning saved cards', everySeconds: 10, turn: () => learnCards(deps, provider, stopping) },
    { name: 'counting parked notifications', everySeconds: 15, turn: () => measureParkedEvents(deps) },
    {
      name: 'comparing with the payment provider',
      everySeconds: 15,
      turn: watchProvider(deps, provider, stopping),
    },
  ];
}

/** What gone processes were delivering goes on at once. */
async function beat(process: OwnProcess, webhooks: WebhookWorker): Promise<void> {
  if (await process.beat()) await webhooks.lookAtAll();
}

export interface Background {
  /**
   * Notifies this process that an automatic top-up may be due.
   * A lost notification delays the top-up by a second.
   */
  wakeTopUps(): void;
  /** Start no further turns. Resolves when those in progress have finished. */
  stop(): Promise<void>;
}

/** From here on no listener misses an event. Call it before the service accepts requests. */
export async function registerListeners(db: Pool): Promise<void> {
  for (const listener of LISTENERS) await upsertListener(db, listener);
}

export function startBackground(
  deps: Deps,
  beside: Beside,
  ratesFile: string | undefined,
  deliveryRules?: DeliveryRules,
): Background {
  const stopping = new AbortController();
  const { process } = beside;
  const webhooks = new WebhookWorker(deps, process, deliveryRules);
  process.onLost(() => webhooks.loseLeases());
  const listeners = LISTENERS.map((listener) => new ListenerTurns(deps, listener));
  const loops = jobsOf(deps, { ...beside, listeners, webhooks }, ratesFile, stopping.signal).flatMap((job) =>
    Array.from({ length: job.lanes ?? 1 }, () => job),
  );
  const running = loops.map(({ name, everySeconds, turn, wokenBy }, place) => {
    const onError = (error: unknown) => deps.log.error({ err: error }, `${name} failed`);
    const loop = repeat(everySeconds, turn, onError, { delayMs: place * BETWEEN_LOOPS_MS });
    return { wokenBy, loop };
  });
  const wake = (by: Job['wokenBy']) => {
    for (const { wokenBy, loop } of running) if (wokenBy === by) loop.wake();
  };
  deps.events.onNumbered((tenants) => {
    for (const turns of listeners) turns.wake(tenants);
    wake('events');
    webhooks.wake(tenants);
  });
  deps.consoleMails.onWritten(() => wake('mails'));
  return {
    wakeTopUps: () => wake('top-ups'),
    stop: async () => {
      stopping.abort();
      await Promise.all([...running.map(({ loop }) => loop.stop()), webhooks.stop()]);
      // The others see within seconds that this process is gone. A database that does not answer is no reason to stop badly.
      await process
        .end()
        .catch((error) => deps.log.warn({ err: error }, 'the end of this process could not be noted'));
    },
  };
}

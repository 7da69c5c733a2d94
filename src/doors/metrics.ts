/** All metrics: those of `base`, and those that features declare. */
import { BaseMetrics } from '../base/telemetry/metrics.ts';
import { type JoinMetrics, joinMetrics } from '../control/admission/join-metrics.ts';
import { type RevocationMetrics, revocationMetrics } from '../control/revocations/revocation-metrics.ts';
import { type SightingMetrics, sightingMetrics } from '../control/rooms/sighting-metrics.ts';
import { type SessionMetrics, sessionMetrics } from '../control/sessions/session-metrics.ts';
import { type WatchdogMetrics, watchdogMetrics } from '../control/watchdogs/watchdog-metrics.ts';
import { type ListenerMetrics, listenerMetrics } from '../events/listener-metrics.ts';
import { type LedgerMetrics, ledgerMetrics } from '../money/ledger/ledger-metrics.ts';
import { type ParkedMetrics, parkedMetrics } from '../money/parked/parked-metrics.ts';
import {
  type ProviderEventMetrics,
  providerEventMetrics,
} from '../money/provider-events/provider-event-metrics.ts';
import { type ArchiveMetrics, archiveMetrics } from '../money/records/archive-metrics.ts';
import { type TopUpMetrics, topUpMetrics } from '../money/top-ups/top-up-metrics.ts';
import { type UsageMetrics, usageMetrics } from '../money/usage/usage-metrics.ts';
import { type DriftMetrics, driftMetrics } from '../money/verification/drift-metrics.ts';
import { type MailMetrics, mailMetrics } from '../outward/mail/mail-metrics.ts';
import { type WebhookMetrics, webhookMetrics } from '../outward/webhooks/webhook-metrics.ts';

export type Metrics = BaseMetrics &
  UsageMetrics &
  ArchiveMetrics &
  LedgerMetrics &
  DriftMetrics &
  TopUpMetrics &
  ProviderEventMetrics &
  ParkedMetrics &
  ListenerMetrics &
  JoinMetrics &
  RevocationMetrics &
  SightingMetrics &
  SessionMetrics &
  WatchdogMetrics &
  MailMetrics &
  WebhookMetrics;

/** Metrics of one process, in a registry of their own. */
export function makeMetrics(): Metrics {
  const metrics = new BaseMetrics();
  const { registry } = metrics;
  return Object.assign(
    metrics,
    usageMetrics(registry),
    archiveMetrics(registry),
    ledgerMetrics(registry),
    driftMetrics(registry),
    topUpMetrics(registry),
    providerEventMetrics(registry),
    parkedMetrics(registry),
    listenerMetrics(registry),
    joinMetrics(registry),
    revocationMetrics(registry),
    sightingMetrics(registry),
    sessionMetrics(registry),
    watchdogMetrics(registry),
    mailMetrics(registry),
    webhookMetrics(registry),
  );
}

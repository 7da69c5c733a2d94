/** Entries of the audit trail about webhooks. An address may hold a secret of its receiver, so only its host is told. */
import { changedFields, type NewAuditEntry } from '../../base/audit/audit-entry.ts';
import { NO_OWN_HEADERS, type ShownHeaders, shownHeaders } from './own-headers.ts';
import type { Pauser, Webhook, WebhookSettings } from './webhook.ts';

/** `shown`: of its headers, if it has any. */
export function createdEntry(
  id: string,
  settings: WebhookSettings,
  shown: ShownHeaders = shownHeaders(NO_OWN_HEADERS),
): NewAuditEntry {
  return {
    action: 'webhook_created',
    subject: id,
    before: null,
    after: { ...fieldsOf(settings), ...headerFields(shown) },
  };
}

/** `shown`: of its headers, if they were set. What is secret shows by fields that are the same before and after. */
export function changedEntry(
  before: Webhook,
  after: WebhookSettings,
  shown: ShownHeaders | undefined,
): NewAuditEntry | undefined {
  const [old, fresh] = [fieldsOf(before), fieldsOf(after)];
  const changed =
    changedFields(old, fresh) ??
    (before.url !== after.url ? { before: { host: old.host }, after: { host: fresh.host } } : undefined);
  if (!changed && !shown) return undefined;
  return {
    action: 'webhook_changed',
    subject: before.id,
    before: { ...changed?.before, ...(shown && headerFields(before)) },
    after: { ...changed?.after, ...(shown && headerFields(shown)) },
  };
}

function headerFields({ headerNames, hasBasicAuth }: ShownHeaders) {
  return { header_names: headerNames, has_basic_auth: hasBasicAuth };
}

export function deletedEntry(webhook: Webhook): NewAuditEntry {
  return {
    action: 'webhook_deleted',
    subject: webhook.id,
    before: { ...fieldsOf(webhook), ...headerFields(webhook) },
    after: null,
  };
}

export function rotatedEntry(id: string, oldSecretRetiresAt: Date): NewAuditEntry {
  return {
    action: 'webhook_rotated',
    subject: id,
    before: { old_secret_retires_at: null },
    after: { old_secret_retires_at: oldSecretRetiresAt },
  };
}

/** By the tenant, or by the service. */
export function pausedEntry(id: string, pausedBy: Pauser): NewAuditEntry {
  return {
    action: 'webhook_paused',
    subject: id,
    before: { paused_by: null },
    after: { paused_by: pausedBy },
  };
}

export function resumedEntry(id: string, pausedBy: Pauser): NewAuditEntry {
  return {
    action: 'webhook_resumed',
    subject: id,
    before: { paused_by: pausedBy },
    after: { paused_by: null },
  };
}

/** The tenant has asked to get events again. */
export function movedBackEntry(id: string, from: bigint, to: bigint): NewAuditEntry {
  return { action: 'webhook_moved_back', subject: id, before: { seq: from }, after: { seq: to } };
}

/** The tenant has asked to get events again that were given up. */
export function resentEntry(id: string, failedSince: Date, events: number): NewAuditEntry {
  return {
    action: 'webhook_resent',
    subject: id,
    before: { failed_since: null, events: null },
    after: { failed_since: failedSince, events },
  };
}

function fieldsOf(settings: WebhookSettings) {
  const { url, types, rooms, description, order, maxInFlight, maxPerSecond, format, maxBatch } = settings;
  return {
    host: new URL(url).host,
    types,
    rooms,
    description,
    order,
    max_in_flight: maxInFlight,
    max_per_second: maxPerSecond,
    format,
    max_batch: maxBatch,
  };
}

/**
 * The listener that turns events into mails: one for each event and address, in the transaction of its cursor. Shares of a budget that
 * one charge has spent are one mail, of the highest one.
 */

import type { Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { normalAddress } from '../../base/tenants/mail-address.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findLastStatusChange } from '../../base/tenants/tenants.sql.ts';
import type { BudgetAlert } from '../../control/budgets/budget-events.ts';
import type { LoggedEvent } from '../../events/event.ts';
import type { Listener } from '../../events/listener.ts';
import type { StatusChange } from '../../money/tenant-status/status-events.ts';
import { ALERTS_A_DAY_MAX, EVENT_MAIL_TYPES, type EventMailType, kindOf } from './mail.ts';
import type { MailDeps } from './mail-deps.ts';
import { findMailSettings } from './mail-settings.sql.ts';
import { type MailRecipients, recipientsOf } from './mail-settings.ts';
import { countAlertsOfDay, insertMails, type NewMail } from './mails.sql.ts';

export const mailListener: Listener<Pick<MailDeps, 'log' | 'metrics'>> = {
  name: 'mail',
  types: EVENT_MAIL_TYPES,
  handle: async (tx, tenant, events, { log, metrics }) => {
    const wanted = await withWords(tx, tenant, withoutLowerShares(events.filter(isToTell)));
    if (wanted.length === 0) return;
    const settings = await findMailSettings(tx, tenant);
    if (settings.status === 'deleted') return;
    const mails = makeMails(wanted, settings, await countAlertsOfDay(tx, tenant));
    if (mails.length > 0) await insertMails(tx, tenant, mails);
    for (const { id, event, isSuppressed } of mails) {
      if (!isSuppressed) continue;
      metrics.mails.inc({ outcome: 'suppressed' });
      log.warn(
        { tenant: renderTenantId(tenant), mail: id, type: event.type },
        'an alert was not mailed: this address has had its alerts of the day',
      );
    }
  },
};

/** Owners are told of the changes of the status that close the console, and those that open it again. */
function isToTell({ type, subject }: LoggedEvent): boolean {
  if (type !== 'tenant_status_changed') return true;
  const { from, to } = subject as StatusChange;
  return from !== to && (to === 'suspended' || to === 'archived' || (to === 'active' && from !== 'pending'));
}

/** One charge leaves alerts with the same amounts, in the order of their shares. */
function withoutLowerShares(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const highest = new Map<string, LoggedEvent>();
  for (const event of events) highest.set(chargeOf(event), event);
  return events.filter((event) => highest.get(chargeOf(event)) === event);
}

/** What events that one mail tells of have in common. */
function chargeOf({ seq, type, subject }: LoggedEvent): string {
  if (type !== 'budget_alert') return `${seq}`;
  const { budget, spent, limit, periodStartedAt } = subject as BudgetAlert;
  return [budget, spent, limit, periodStartedAt].join(' ');
}

/** The event is for programs. What people are told about the status is beside its reason. */
async function withWords(
  tx: Tx,
  tenant: TenantId,
  events: readonly LoggedEvent[],
): Promise<readonly LoggedEvent[]> {
  if (!events.some(({ type }) => type === 'tenant_status_changed')) return events;
  const told = (await findLastStatusChange(tx, tenant))?.told ?? null;
  const newest = events.findLast(({ type }) => type === 'tenant_status_changed');
  return events.map((event) =>
    event === newest ? { ...event, subject: { ...(event.subject as StatusChange), told } } : event,
  );
}

/** `alerts`: how many each address got today. It is changed. */
function makeMails(
  events: readonly LoggedEvent[],
  settings: MailRecipients,
  alerts: Map<string, number>,
): NewMail[] {
  return events.flatMap((event) => {
    const kind = kindOf(event.type as EventMailType);
    return recipientsOf(settings, kind).map((address) => {
      const mail = { id: newId('mail'), address, kind, event };
      if (kind !== 'alert') return { ...mail, isLast: false, isSuppressed: false };
      const count = (alerts.get(normalAddress(address)) ?? 0) + 1;
      alerts.set(normalAddress(address), count);
      return { ...mail, isLast: count === ALERTS_A_DAY_MAX, isSuppressed: count > ALERTS_A_DAY_MAX };
    });
  });
}

/** The listener that turns events into mails: one for each event and address, in the transaction of its cursor. */
import { newId } from '../../base/lib/ids.ts';
import { normalAddress } from '../../base/tenants/mail-address.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import type { Listener } from '../../events/listener.ts';
import { ALERTS_A_DAY_MAX, EVENT_MAIL_TYPES, type EventMailType, kindOf } from './mail.ts';
import { findMailSettings } from './mail-settings.sql.ts';
import { type MailRecipients, recipientsOf } from './mail-settings.ts';
import { countAlertsOfDay, insertMails, type NewMail } from './mails.sql.ts';

export const mailListener: Listener = {
  name: 'mail',
  types: EVENT_MAIL_TYPES,
  handle: async (tx, tenant, events, { log, metrics }) => {
    const settings = await findMailSettings(tx, tenant);
    if (settings.status === 'deleted') return;
    const mails = makeMails(events, settings, await countAlertsOfDay(tx, tenant));
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
      if (kind === 'receipt') return { ...mail, isLast: false, isSuppressed: false };
      const count = (alerts.get(normalAddress(address)) ?? 0) + 1;
      alerts.set(normalAddress(address), count);
      return { ...mail, isLast: count === ALERTS_A_DAY_MAX, isSuppressed: count > ALERTS_A_DAY_MAX };
    });
  });
}

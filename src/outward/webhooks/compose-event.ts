/** An event of the log as the message that one attempt sends. */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { publicEventId, renderPublicEvent } from '../events/public-event.ts';
import type { Message } from './send-event.ts';

export function composeEvent(
  tenant: TenantId,
  event: LoggedEvent,
  { kind, attempt, skipped }: Pick<Message, 'kind' | 'attempt' | 'skipped'>,
): Message {
  return {
    kind,
    eventId: publicEventId(tenant, event),
    seq: event.seq,
    type: event.type,
    attempt,
    body: renderPublicEvent(tenant, event, skipped),
    skipped,
    signedAt: new Date(),
  };
}

/** Tell tenants that the card of their automatic top-ups is about to expire. */
import { inTransaction } from '../../base/db/transaction.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { cardExpiring } from './card-events.ts';
import { takeExpiringCards } from './saved-cards.sql.ts';

/** Days before the end of a card, which is the end of its month in UTC. */
const EXPIRY_NOTICE_DAYS = 30;

const AT_ONCE = 100;

/** Any number of processes may do this at once. A card that already ended is told, too, if it was not. */
export async function tellExpiringCards(deps: EventDeps): Promise<void> {
  while ((await tellSome(deps)) === AT_ONCE);
}

async function tellSome({ db, events }: EventDeps): Promise<number> {
  const cards = await inTransaction(db, async (tx) => {
    const taken = await takeExpiringCards(tx, { days: EXPIRY_NOTICE_DAYS, limit: AT_ONCE });
    for (const { tenant, ...card } of taken) await appendEvents(tx, tenant, [cardExpiring(card)]);
    return taken;
  });
  for (const { tenant } of cards) events.wake(tenant);
  return cards.length;
}

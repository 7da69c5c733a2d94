/**
 * Ask the provider for the details of saved cards: of those that were saved before this service kept them, and of those
 * that changed.
 *
 * The provider's events of a card may come in any order. So an event only makes the details unknown, and here they are
 * asked anew; an answer from before the newest event is not stored.
 */
import type { BaseDeps } from '../../base/deps.ts';
import { findAtProvider, type Provider } from '../payments/provider.ts';
import { readCardDetails } from '../payments/saved-card.ts';
import { claimUnknownCard, postponeCard, type UnknownCard, updateCardDetails } from './saved-cards.sql.ts';

/** Calls to the provider in one turn. Turns are ten seconds apart, and top-ups come first. */
const CALLS_MAX = 10;

/** After this time another process asks, if this one has died or got no answer. */
const LEASE_SECONDS = 300;

/** For a card without an end, or one that the provider no longer has. */
const AGAIN_SECONDS = 86_400;

/**
 * One card after the other. An error of the provider ends the turn, because the others would fail, too; so does
 * `stopping`.
 */
export async function learnCards(deps: BaseDeps, provider: Provider, stopping?: AbortSignal): Promise<void> {
  for (let calls = 0; calls < CALLS_MAX && !stopping?.aborted; calls += 1) {
    const card = await claimUnknownCard(deps.db, LEASE_SECONDS);
    if (!card) return;
    await learnCard(deps, provider, card);
  }
}

async function learnCard({ db }: BaseDeps, { stripe }: Provider, card: UnknownCard): Promise<void> {
  const method = await findAtProvider(() => stripe.paymentMethods.retrieve(card.paymentMethodId));
  const details = method && readCardDetails(method);
  if (details) await updateCardDetails(db, card, details);
  else await postponeCard(db, card, AGAIN_SECONDS);
}

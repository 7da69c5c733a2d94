/** What a room would cost a tenant now. Reads, and changes nothing. */
import type { BaseDeps } from '../../base/deps.ts';
import { invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findAccount } from '../accounts/accounts.sql.ts';
import { displayMicros } from '../amount.ts';
import { INITIAL_CARRY, type Rounding } from '../pricing/carry.ts';
import { CURRENT_RULE, type Terms } from '../pricing/pricing-rule.ts';
import type { RateCards } from '../pricing/rate-cards.ts';
import { priceRoom, type RoomPrice, type SimulatedParticipants } from './room-price.ts';

export interface SimulationDeps extends Pick<BaseDeps, 'db'> {
  readonly rates: RateCards;
  readonly config: { readonly billingRounding: Rounding };
}

/** Lines of one simulation. */
export const LINES_MAX = 50;
/** Participants of one line. */
export const LINE_PARTICIPANTS_MAX = 100_000;

/** Micros. Larger integers in JSON are not exact for every reader. */
const TOTAL_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export interface SimulatedRoom {
  readonly room: RoomPrice;
  readonly terms: Terms;
  /** The tenant is not charged, so its balance stays. */
  readonly exempt: boolean;
  /** Micros. */
  readonly balance: bigint;
  readonly balanceAfter: bigint;
}

/**
 * Starts from the tenant's carry. A charge of the same records gives the same amount, unless another charge
 * or rate card comes before it.
 */
export async function simulateRoom(
  { db, rates, config }: SimulationDeps,
  tenant: TenantId,
  participants: readonly SimulatedParticipants[],
): Promise<SimulatedRoom> {
  const { rateVersion, carry, exempt, balance } = await findAccount(db, tenant);
  const card = await rates.version(db, rateVersion);
  const terms = { rates: card, rule: CURRENT_RULE, rounding: config.billingRounding };
  const room = priceRoom(participants, terms, exempt ? INITIAL_CARRY : carry);
  if (room.amount > TOTAL_MAX) {
    throw invalidField('participants', `must cost ${displayMicros(TOTAL_MAX)} together at most`);
  }
  return { room, terms, exempt, balance, balanceAfter: exempt ? balance : balance - room.amount };
}

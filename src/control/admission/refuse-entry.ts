/**
 * The checks that joins and mints share. Each of the two decides their order.
 *
 * Source: specification 3.4, 4.11 and 7.
 */
import { Failure } from '../../base/failure.ts';
import { admits } from '../../base/tenants/tenant.ts';
import type { RoomPolicy } from '../rooms/room.ts';
import type { EntryState } from './entry-state.sql.ts';

export function refuseBanned({ isBanned }: EntryState): void {
  if (isBanned) throw new Failure('banned');
}

/** A tenant that never paid is pending, which `refuseWithoutCredit()` reports as missing credit. */
export function refuseInactive({ status }: EntryState): void {
  if (status !== 'active' && status !== 'pending') throw new Failure('tenant_not_active');
}

export function refuseWithoutCredit(state: EntryState): void {
  if (state.status === 'pending') throw new Failure('payment_required');
  if (!admits(state, state.balance)) throw new Failure('credit_spent');
}

/** `isVerified`: the tenant's back end vouches for the age of the user. */
export function refuseUnverifiedAge({ ageVerificationRequired }: RoomPolicy, isVerified: boolean): void {
  if (ageVerificationRequired && !isVerified) throw new Failure('age_verification_required');
}

/** A participant who is inside may renew, even while the room is full or locked. */
export function refuseNewcomer({ locked }: RoomPolicy, isInside: boolean): void {
  if (locked && !isInside) throw new Failure('room_locked');
}

/**
 * A join does not prove who the user is, so it does not enter under the name of a user whom a back end gave a
 * higher rank, not even from the device of that user, which anyone can name.
 */
export function refuseHigherName({ highestRank }: EntryState, { rank }: { readonly rank: number }): void {
  if (highestRank !== null && highestRank > rank) throw new Failure('username_taken');
}

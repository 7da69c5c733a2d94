/** How long the credit of a tenant lasts, and which rooms use most of it. */
import type { Pool } from '../../base/db/pool.ts';
import { inSnapshot } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { readLots } from '../grants/read-lots.ts';
import { rankRooms } from '../usage/rank-rooms.ts';
import {
  type Burn,
  type EndingCredit,
  leftOf,
  perHour,
  ROOMS_SHOWN,
  type RoomShare,
  shareOf,
  WINDOW_NAMES,
  WINDOWS,
  type Window,
} from './runway.ts';
import { readSpending } from './spent.sql.ts';

export interface Runway {
  readonly now: Date;
  readonly balance: bigint;
  readonly burns: readonly Burn[];
  readonly rooms: {
    readonly window: Window;
    /** The start of the hour in which the window begins: sums by room are of whole hours. */
    readonly from: Date;
    readonly spent: bigint;
    /** The most expensive first. */
    readonly top: readonly RoomShare[];
  };
}

/** The runway without its rooms. */
export type Burns = Omit<Runway, 'rooms'>;

/** What a charge has committed is in the next answer. */
export async function getBurns(db: Pool, tenant: TenantId): Promise<Burns> {
  const hours = WINDOW_NAMES.map((name) => WINDOWS[name]);
  return inSnapshot(db, async (tx) => {
    const { now, balance, lastSeq, spent } = await readSpending(tx, tenant, hours);
    const { lots, granted } = await readLots(tx, tenant, { at: now, seq: lastSeq });
    const open = lots.filter(({ isOver }) => !isOver);
    // The balance holds what has ended, until a posting takes it.
    const ended = granted - open.reduce((sum, { left }) => sum + left, 0n);
    const ending = open.filter(hasEnd).sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
    const burns = WINDOW_NAMES.map((name, at) => {
      const each = spent[at]!;
      const burn = perHour(each);
      return {
        window: name,
        spent: each.spent,
        perHour: burn,
        ...leftOf(balance - ended, burn, now, ending),
      };
    });
    return { now, balance, burns };
  });
}

function hasEnd<T extends { readonly expiresAt: Date | null }>(lot: T): lot is T & EndingCredit {
  return lot.expiresAt !== null;
}

/** The same with the rooms that cost most in `window`. */
export async function getRunway(db: Pool, tenant: TenantId, window: Window): Promise<Runway> {
  const { now, balance, burns } = await getBurns(db, tenant);
  const from = new Date(now.getTime() - WINDOWS[window] * HOUR_MS);
  from.setUTCMinutes(0, 0, 0);
  const to = new Date(from.getTime() + (WINDOWS[window] + 1) * HOUR_MS);
  const rooms = await rankRooms(db, tenant, { from, to, limit: ROOMS_SHOWN });
  const top = rooms.top.map((each) => ({ ...each, share: shareOf(each.amount, rooms.total) }));
  return { now, balance, burns, rooms: { window, from, spent: rooms.total, top } };
}

const HOUR_MS = 3_600_000;

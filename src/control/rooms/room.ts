/**
 * Rooms and their policy.
 *
 * A room is one incarnation of its name. After it has ended, the name may be used again for another room with
 * another uid.
 */
import type { RoleCapabilities } from '../../access/rights/capabilities.ts';
import type { TenantLimit } from '../../base/tenants/limits.ts';
import type { Role } from '../../money/pricing/role.ts';

export const ROOMS_LIMIT = {
  name: 'rooms',
  pending: 1_000,
  active: 10_000,
  unit: 'live rooms',
} as const satisfies TenantLimit;

/** In characters. */
export const METADATA_LENGTH_MAX = 4096;

export const PARTICIPANTS_MAX = 100_000;

/** The room of a join if neither the request nor the credential names one. */
export const ROOM_DEFAULT = 'lobby';

/** A room by name, by uid, or both. */
export type RoomReference =
  | { readonly name: string; readonly uid?: undefined }
  | { readonly name?: string | undefined; readonly uid: string };

export type RoomState = 'LIVE' | 'ENDED';

/** Rules of a room, stored as JSON. Those up to `region` never change. */
export interface RoomPolicy extends RoleCapabilities {
  readonly mode: 'MEETING' | 'BROADCAST';
  readonly e2eeRequired: boolean;
  readonly ageVerificationRequired: boolean;
  readonly region: string;
  /** Users who may be present at once; 0: no limit. */
  readonly maxParticipants: number;
  /** New users may not enter. */
  readonly locked: boolean;
  readonly muteOnEntry: boolean;
}

export const DEFAULT_POLICY: RoomPolicy = {
  mode: 'MEETING',
  e2eeRequired: false,
  ageVerificationRequired: false,
  region: '',
  maxParticipants: 0,
  locked: false,
  hostCapabilities: [],
  audienceCapabilities: [],
  muteOnEntry: false,
};

export type EndReason = 'ended' | 'closed' | 'watchdog';

export interface Room {
  readonly name: string;
  readonly uid: string;
  readonly state: RoomState;
  readonly policy: RoomPolicy;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly endReason: EndReason | null;
  /** Users who are present. */
  readonly participantCount: number;
  readonly metadata: string;
}

/** Without participantCount, so that holders of the row lock do not pay for the count. */
export type LockedRoom = Omit<Room, 'participantCount'>;

/** Participants who are present with a role. */
export interface RoleCount {
  readonly role: Role;
  readonly count: bigint;
}

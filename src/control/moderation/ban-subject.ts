/**
 * Ban a subject from a room, or from all rooms of a tenant. Banned users who are present leave, and so do
 * users whose only device is banned.
 *
 * A ban of a room holds for its name, also when it ends and is made again. A subject has at most one ban per scope. Banning it again can only make that ban stronger.
 */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { ADDRESS_BANS_MAX } from '../bans/address-range.ts';
import type { Subject } from '../bans/ban.ts';
import { BANS_LIMIT, type Ban } from '../bans/ban.ts';
import {
  countActiveBans,
  countAddressBans,
  insertBan,
  type NewBan,
  strengthenBan,
} from '../bans/bans.sql.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import type { Moderator } from '../rooms/moderator.ts';
import type { ActorName } from '../rooms/participant.ts';
import { findFormerRank } from '../rooms/participants.sql.ts';
import { assertOutranks, type Standing } from '../rooms/rank.ts';
import type { Room } from '../rooms/room.ts';
import { expelBanned, findBannedUsers } from './expel-banned.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { recordModeration } from './record-moderation.ts';

export interface BanRequest {
  /** Name of a room; `undefined`: every room of the tenant. */
  readonly room: string | undefined;
  readonly subject: Subject;
  /** `null`: until it is lifted. */
  readonly ttlMs: number | null;
  readonly reason: string;
  readonly actor: ActorName | undefined;
}

export interface Banned {
  readonly ban: Ban;
  /** `undefined`: an equally strong ban already existed. */
  readonly event: ModerationEvent | undefined;
}

/**
 * Fails with `not_found`, `capability_required`, `insufficient_standing`, `room_ended`,
 * `too_many_bans` and `quota_exceeded`.
 */
export async function banSubject(tx: Tx, caller: Moderator, request: BanRequest): Promise<Banned> {
  const { tenant } = caller;
  const { subject, ttlMs, reason, actor } = request;
  const room = request.room === undefined ? null : await getLockedRoom(tx, tenant, request.room);
  // A participant has standing in one room only.
  const standing = await authorizeActor(tx, caller, room, actor, 'moderate.ban');
  // A ban of the actor's own name or device fails here, because actors do not outrank themselves.
  const users = await findBannedUsers(tx, tenant, room?.uid ?? null, subject);
  for (const each of users) assertOutranks(standing, each);
  if (room && users.length === 0) await refuseFormerRank(tx, tenant, { standing, room, subject });
  if (room) refuseEnded(room);

  const place = { room: room?.name ?? null, roomUid: room?.uid ?? null };
  const wanted = { ...place, subject, ttlMs, reason, actor: standing.username };
  const { ban, isChanged } = await setBan(tx, caller, { ...wanted, rank: standing.rank });
  const outcome = await expelBanned(tx, tenant, users, subject);
  if (!isChanged) {
    if (outcome.length > 0) await appendEvents(tx, tenant, outcome);
    return { ban, event: undefined };
  }
  const { expiresAt } = ban;
  const act = { action: 'ban', room, subject, reason, actor: standing.username, expiresAt } as const;
  return { ban, event: await recordModeration(tx, caller, act, outcome) };
}

/** A ban holds for the name of the room, and so does the rank of a user who has yet to enter the present one. */
async function refuseFormerRank(
  tx: Tx,
  tenant: TenantId,
  { standing, room, subject }: { standing: Standing; room: Pick<Room, 'name'>; subject: Subject },
): Promise<void> {
  if (subject.kind !== 'user') return;
  const rank = await findFormerRank(tx, tenant, room.name, subject.value);
  if (rank !== undefined) assertOutranks(standing, { username: subject.value, rank });
}

/** `isChanged`: the ban is new, or stronger than before. */
async function setBan(
  tx: Tx,
  caller: Moderator,
  wanted: NewBan,
): Promise<{ readonly ban: Ban; readonly isChanged: boolean }> {
  const { tenant } = caller;
  const isOfAddresses = wanted.subject.kind === 'cidr';
  // Serialized; otherwise two concurrent bans could both count as the last one allowed.
  if (isOfAddresses) await lockTenant(tx, tenant);
  const { isNew, ...ban } = await insertBan(tx, tenant, wanted);
  if (!isNew) {
    const stronger = await strengthenBan(tx, tenant, ban.id, wanted);
    return { ban: stronger ?? ban, isChanged: stronger !== undefined };
  }
  if (isOfAddresses && (await countAddressBans(tx, tenant)) > ADDRESS_BANS_MAX)
    throw new Failure('too_many_bans');
  await takePlace(tx, limitHolderOf(caller), BANS_LIMIT, (most) => countActiveBans(tx, tenant, most));
  return { ban, isChanged: true };
}

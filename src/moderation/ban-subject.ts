/** Keep somebody out of a room, or of all rooms of a tenant; whoever is meant and present leaves. */
import type { Tx } from '../db/pool.ts';
import { Failure } from '../failure.ts';
import type { AuthenticatedCaller } from '../keys/authenticate.ts';
import { type ActorName, authorizeActor, refuseWithoutStanding } from '../participants/actor.ts';
import type { Participant } from '../participants/participant.ts';
import { expel, findUsers, findUsersOfDevice, type Meant } from '../participants/participants.sql.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import type { Room } from '../rooms/room.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { lockTenant } from '../tenants/tenants.sql.ts';
import { wakeWatchdogs } from '../watchdogs/watchdogs.sql.ts';
import { ADDRESS_BANS_MAX, type Ban } from './ban.ts';
import { countAddressBans, insertBan, type NewBan } from './bans.sql.ts';
import type { ModerationEvent, Subject } from './moderation-event.ts';
import { leaving, recordModeration } from './record-moderation.ts';

export interface BanRequest {
  /** Name of a room; `undefined`: every room of the tenant. */
  readonly room: string | undefined;
  readonly subject: Subject;
  /** `null`: for ever, or until the room ends. */
  readonly ttlMs: number | null;
  readonly reason: string;
  readonly actor: ActorName | undefined;
}

export interface Banned {
  readonly ban: Ban;
  /** `undefined`: the same ban stood already. */
  readonly event: ModerationEvent | undefined;
}

/**
 * Fails with `not_found`, `capability_required`, `insufficient_standing`, `room_ended` and
 * `too_many_bans`.
 */
export async function banSubject(tx: Tx, caller: AuthenticatedCaller, request: BanRequest): Promise<Banned> {
  const { tenant } = caller;
  const { subject, ttlMs, reason, actor } = request;
  const room = request.room === undefined ? null : await getLockedRoom(tx, tenant, request.room);
  // The standing of a participant is of one room.
  const standing = await authorizeActor(tx, tenant, room, actor, 'moderate.ban');
  // The actor is among those whom a ban of his own name or device means, and nobody outranks himself.
  const meant = await findMeant(tx, tenant, room, subject);
  for (const each of meant) refuseWithoutStanding(standing, each);
  if (room) refuseEnded(room);

  const wanted = { roomUid: room?.uid ?? null, subject, ttlMs, reason, actor: standing.username };
  const { isNew, ...ban } = await setBan(tx, tenant, { ...wanted, rank: standing.rank });
  if (!isNew) return { ban, event: undefined };
  const left = await expelMeant(tx, tenant, room, meant);
  const deed = { action: 'ban', room, subject, reason, actor: ban.actor, expiresAt: ban.expiresAt } as const;
  return { ban, event: await recordModeration(tx, caller, deed, leaving(left)) };
}

/** Who has an address is known to relays only; they refuse whom a ban of addresses means. */
async function findMeant(
  tx: Tx,
  tenant: TenantId,
  room: Room | null,
  { kind, value }: Subject,
): Promise<Meant[]> {
  const roomUid = room?.uid ?? null;
  switch (kind) {
    case 'user':
      return findUsers(tx, tenant, roomUid, value);
    case 'device':
      return findUsersOfDevice(tx, tenant, roomUid, value);
    case 'cidr':
      return [];
  }
}

async function setBan(tx: Tx, tenant: TenantId, wanted: NewBan) {
  if (wanted.subject.kind !== 'cidr') return insertBan(tx, tenant, wanted);
  // One after the other: two that are counted at once would both be the last.
  await lockTenant(tx, tenant);
  const ban = await insertBan(tx, tenant, wanted);
  if (ban.isNew && (await countAddressBans(tx, tenant)) > ADDRESS_BANS_MAX)
    throw new Failure('too_many_bans');
  return ban;
}

/** Returns those who were present. `meant` is ordered by room, so no two bans wait for each other. */
async function expelMeant(
  tx: Tx,
  tenant: TenantId,
  room: Room | null,
  meant: readonly Meant[],
): Promise<Participant[]> {
  const present = Map.groupBy(
    meant.filter((each) => each.isPresent),
    (each) => each.roomUid,
  );
  const left: Participant[] = [];
  for (const [roomUid, users] of present) {
    if (!room) await lockRoom(tx, tenant, roomUid);
    const usernames = users.map((each) => each.username);
    left.push(...(await expel(tx, tenant, roomUid, 'banned', usernames)));
    await wakeWatchdogs(tx, tenant, roomUid);
  }
  return left;
}

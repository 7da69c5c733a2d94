/** `ModerationService`. */
import type { BanSchema } from '@boxoffice/contract/moderation';
import {
  type BanSubjectRequest,
  type ForceMuteRequest,
  type KickParticipantRequest,
  ModerationService,
} from '@boxoffice/contract/moderation_service';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Tx } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import { isId } from '../../base/lib/ids.ts';
import { readPage } from '../../base/lib/page.ts';
import { parseAddressRange } from '../../control/bans/address-range.ts';
import type { Subject } from '../../control/bans/ban.ts';
import { BAN_MS_MAX, type Ban } from '../../control/bans/ban.ts';
import { banSubject } from '../../control/moderation/ban-subject.ts';
import { closeRoom } from '../../control/moderation/close-room.ts';
import { kickParticipant, type Moderated } from '../../control/moderation/kick-participant.ts';
import { listBans } from '../../control/moderation/list-bans.ts';
import { listModerationEvents } from '../../control/moderation/list-moderation-events.ts';
import {
  type RestrictingAction,
  type RestrictRequest,
  restrictTracks,
} from '../../control/moderation/restrict-tracks.ts';
import { unbanSubject } from '../../control/moderation/unban-subject.ts';
import {
  parseActor,
  parseDurationMs,
  parseOptionalRoomName,
  parsePageSize,
  parseReason,
  parseRoomName,
  parseSomeTracks,
  parseThumbprint,
  parseToken,
  parseUsername,
  renderToken,
} from './fields.ts';
import { type Call, command, type Methods, query } from './methods.ts';
import { renderModerationEvent, renderParticipant, renderRoom, renderSubject } from './render.ts';

const { method } = ModerationService;

export const moderationMethods = {
  kickParticipant: command(
    method.kickParticipant,
    (request) => ({ ...parseTarget(request), reason: parseReason(request.reason) }),
    async (tx, { caller }, wanted) => renderModerated(await kickParticipant(tx, caller, wanted)),
  ),
  banSubject: command(
    method.banSubject,
    (request) => ({
      room: parseOptionalRoomName(request.room),
      subject: parseSubject(request.subject),
      ttlMs: parseDurationMs(request.ttl, 'ttl', { min: 0, max: BAN_MS_MAX }) || null,
      reason: parseReason(request.reason),
      actor: parseActor(request.actor),
    }),
    async (tx, { caller }, wanted) => {
      const { ban, event } = await banSubject(tx, caller, wanted);
      return { ban: renderBan(ban), ...(event && { event: renderModerationEvent(event) }) };
    },
  ),
  unbanSubject: command(
    method.unbanSubject,
    (request) => ({
      room: parseOptionalRoomName(request.room),
      subject: parseSubject(request.subject),
      actor: parseActor(request.actor),
    }),
    async (tx, { caller }, wanted) => {
      const { ban, event } = await unbanSubject(tx, caller, wanted);
      return { ban: renderBan(ban), event: renderModerationEvent(event) };
    },
  ),
  listBans: query(method.listBans, async ({ deps, tenant }, request) => {
    const size = parsePageSize(request.pageSize);
    const filter = {
      room: parseOptionalRoomName(request.room),
      subject: request.subject.case && parseSubject(request.subject),
      after: parseLast(request.pageToken, (text) => isId('ban', text)),
    };
    const { items, end } = await readPage(size, (limit) => listBans(deps.db, tenant, { ...filter, limit }));
    return { bans: items.map(renderBan), nextPageToken: end ? renderToken([end.id]) : '' };
  }),
  forceMute: command(method.forceMute, parseRestriction, restrict('force_mute')),
  releaseMute: command(method.releaseMute, parseRestriction, restrict('release_mute')),
  revokePublish: command(method.revokePublish, parseRestriction, restrict('revoke_publish')),
  restorePublish: command(method.restorePublish, parseRestriction, restrict('restore_publish')),
  closeRoom: command(
    method.closeRoom,
    (request) => ({
      room: parseRoomName(request.room),
      reason: parseReason(request.reason),
      actor: parseActor(request.actor),
    }),
    async (tx, { caller }, wanted) => {
      const { room, event } = await closeRoom(tx, caller, wanted);
      return { room: renderRoom(room), event: renderModerationEvent(event) };
    },
  ),
  listModerationEvents: query(method.listModerationEvents, async ({ deps, tenant }, request) => {
    const size = parsePageSize(request.pageSize);
    // Ids of events are 64-bit integers.
    const before = parseLast(request.pageToken, (text) => /^[0-9]{1,18}$/.test(text));
    const filter = {
      room: parseOptionalRoomName(request.room),
      username: request.username === '' ? undefined : parseUsername(request.username),
      before: before === undefined ? undefined : BigInt(before),
    };
    const { items, end } = await readPage(size, (limit) =>
      listModerationEvents(deps.db, tenant, { ...filter, limit }),
    );
    return {
      events: items.map(renderModerationEvent),
      nextPageToken: end ? renderToken([String(end.id)]) : '',
    };
  }),
} satisfies Methods<typeof ModerationService>;

function parseTarget(request: Pick<KickParticipantRequest, 'room' | 'username' | 'actor'>) {
  return {
    room: parseRoomName(request.room),
    username: parseUsername(request.username),
    actor: parseActor(request.actor),
  };
}

/** The four methods that take or return tracks share the shape of their requests and responses. */
function parseRestriction(
  request: Pick<ForceMuteRequest, 'room' | 'username' | 'tracks' | 'reason' | 'actor'>,
): RestrictRequest {
  return {
    ...parseTarget(request),
    tracks: parseSomeTracks(request.tracks),
    reason: parseReason(request.reason),
  };
}

function restrict(action: RestrictingAction) {
  return async (tx: Tx, { caller }: Call, wanted: RestrictRequest) =>
    renderModerated(await restrictTracks(tx, caller, action, wanted));
}

function parseSubject(subject: BanSubjectRequest['subject']): Subject {
  switch (subject.case) {
    case 'username':
      return { kind: 'user', value: parseUsername(subject.value) };
    case 'deviceThumbprint':
      return { kind: 'device', value: parseThumbprint(subject.value) };
    case 'cidr':
      return { kind: 'cidr', value: parseCidr(subject.value) };
    case undefined:
      throw invalidField('subject', 'is required');
  }
}

function parseCidr(text: string): string {
  if (text === '') throw invalidField('cidr', 'is required');
  const range = parseAddressRange(text);
  if (range === undefined) {
    throw invalidField(
      'cidr',
      'must be a range of addresses without host bits: /8 to /32 of IPv4, or /16 to /128 of IPv6',
    );
  }
  return range;
}

/** The last item of the previous page. */
function parseLast(token: string, isLast: (text: string) => boolean): string | undefined {
  const parts = parseToken(token);
  if (parts && (parts.length !== 1 || !isLast(parts[0]!))) {
    throw invalidField('page_token', 'must be one that an answer gave');
  }
  return parts?.[0];
}

function renderModerated({ participant, event }: Moderated) {
  return { participant: renderParticipant(participant), event: renderModerationEvent(event) };
}

function renderBan(ban: Ban): MessageInitShape<typeof BanSchema> {
  return {
    id: ban.id,
    room: ban.room ?? '',
    roomUid: ban.roomUid ?? '',
    subject: renderSubject(ban.subject),
    createTime: timestampFromDate(ban.createdAt),
    ...(ban.expiresAt && { expireTime: timestampFromDate(ban.expiresAt) }),
    reason: ban.reason,
    actor: ban.actor ?? '',
    rank: ban.rank,
  };
}

/** Our types to the wire. */
import type { ApiKeySchema } from '@boxoffice/contract/account';
import type { DeviceCredentialSchema } from '@boxoffice/contract/device_credential';
import { ModerationEvent_Action, type ModerationEventSchema } from '@boxoffice/contract/moderation';
import { Participant_State, type ParticipantSchema } from '@boxoffice/contract/participant';
import { Room_State, RoomPolicy_Mode, type RoomSchema } from '@boxoffice/contract/room';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { Watchdog_Action, Watchdog_State, type WatchdogSchema } from '@boxoffice/contract/watchdog';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { DeviceCredential } from '../../access/devices/device-credential.ts';
import type { ApiKey, KeyLife } from '../../access/keys/api-key.ts';
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import type { Subject } from '../../control/bans/ban.ts';
import type { ModerationAction, ModerationEvent } from '../../control/moderation/moderation-event.ts';
import { type Participant, withhold } from '../../control/rooms/participant.ts';
import type { Room } from '../../control/rooms/room.ts';
import type {
  Watchdog,
  WatchdogAction,
  WatchdogCondition,
  WatchdogState,
} from '../../control/watchdogs/watchdog.ts';

const TRACKS: Readonly<Record<PublishRight, TrackKind>> = {
  audio: TrackKind.AUDIO,
  video: TrackKind.VIDEO,
  screen: TrackKind.SCREEN,
  data: TrackKind.DATA,
};

function renderTracks(rights: readonly PublishRight[]): TrackKind[] {
  return rights.map((right) => TRACKS[right]);
}

export function renderRoom(room: Room): MessageInitShape<typeof RoomSchema> {
  const { policy } = room;
  return {
    name: room.name,
    uid: room.uid,
    state: room.state === 'LIVE' ? Room_State.LIVE : Room_State.ENDED,
    policy: {
      ...policy,
      mode: policy.mode === 'BROADCAST' ? RoomPolicy_Mode.BROADCAST : RoomPolicy_Mode.MEETING,
      hostCapabilities: [...policy.hostCapabilities],
      audienceCapabilities: [...policy.audienceCapabilities],
    },
    createTime: timestampFromDate(room.createdAt),
    ...(room.endedAt && { endTime: timestampFromDate(room.endedAt) }),
    endReason: room.endReason ?? '',
    participantCount: room.participantCount,
    metadata: room.metadata,
  };
}

export function renderParticipant(participant: Participant): MessageInitShape<typeof ParticipantSchema> {
  const { lastSeenAt, leftAt } = participant;
  return {
    room: participant.room,
    roomUid: participant.roomUid,
    username: participant.username,
    state: leftAt ? Participant_State.LEFT : Participant_State.PRESENT,
    role: participant.role,
    rank: participant.rank,
    capabilities: [...withhold(participant.capabilities, participant).granted],
    tier: participant.tier ?? '',
    muted: renderTracks(participant.muted),
    publishRevoked: renderTracks(participant.publishRevoked),
    enterTime: timestampFromDate(participant.enteredAt),
    ...(lastSeenAt && { lastSeenTime: timestampFromDate(lastSeenAt) }),
    expireTime: timestampFromDate(participant.expiresAt),
    ...(leftAt && { leaveTime: timestampFromDate(leftAt) }),
    leaveReason: participant.leaveReason ?? '',
    devices: participant.devices.map((device) => ({
      thumbprint: device.thumbprint,
      keyId: device.keyId,
      customer: device.customer ?? '',
      expireTime: timestampFromDate(device.expiresAt),
    })),
  };
}

/** The oneof `subject` of requests, bans and moderation events. */
export function renderSubject({ kind, value }: Subject) {
  switch (kind) {
    case 'user':
      return { case: 'username' as const, value };
    case 'device':
      return { case: 'deviceThumbprint' as const, value };
    case 'cidr':
      return { case: 'cidr' as const, value };
  }
}

const MODERATION_ACTIONS: Readonly<Record<ModerationAction, ModerationEvent_Action>> = {
  kick: ModerationEvent_Action.KICK,
  ban: ModerationEvent_Action.BAN,
  unban: ModerationEvent_Action.UNBAN,
  force_mute: ModerationEvent_Action.FORCE_MUTE,
  release_mute: ModerationEvent_Action.RELEASE_MUTE,
  revoke_publish: ModerationEvent_Action.REVOKE_PUBLISH,
  restore_publish: ModerationEvent_Action.RESTORE_PUBLISH,
  close_room: ModerationEvent_Action.CLOSE_ROOM,
};

export function renderModerationEvent(
  event: ModerationEvent,
): MessageInitShape<typeof ModerationEventSchema> {
  return {
    id: event.id,
    action: MODERATION_ACTIONS[event.action],
    room: event.room ?? '',
    roomUid: event.roomUid ?? '',
    ...(event.subject && { subject: renderSubject(event.subject) }),
    tracks: renderTracks(event.tracks),
    reason: event.reason,
    actor: event.actor ?? '',
    keyId: event.keyId ?? '',
    time: timestampFromDate(event.at),
    ...(event.expiresAt && { expireTime: timestampFromDate(event.expiresAt) }),
    watchdogId: event.watchdogId ?? '',
  };
}

export function renderApiKey({ id, name, kind, ...life }: ApiKey): MessageInitShape<typeof ApiKeySchema> {
  return { id, name, kind, ...renderLife(life) };
}

function renderLife({ createdAt, retiresAt, revokedAt }: KeyLife) {
  return {
    createTime: timestampFromDate(createdAt),
    ...(retiresAt && { retireTime: timestampFromDate(retiresAt) }),
    ...(revokedAt && { revokeTime: timestampFromDate(revokedAt) }),
  };
}

export function renderDeviceCredential(
  credential: DeviceCredential,
): MessageInitShape<typeof DeviceCredentialSchema> {
  const { expiresAt } = credential;
  return {
    id: credential.id,
    name: credential.name,
    publish: renderTracks(credential.publish),
    rooms: [...(credential.rooms ?? [])],
    defaultRoom: credential.defaultRoom ?? '',
    ...renderLife(credential),
    ...(expiresAt && { expireTime: timestampFromDate(expiresAt) }),
  };
}

export const WATCHDOG_ACTIONS: Readonly<Record<WatchdogAction, Watchdog_Action>> = {
  end_room: Watchdog_Action.END_ROOM,
  kick: Watchdog_Action.KICK,
  revoke_publish: Watchdog_Action.REVOKE_PUBLISH,
  notify: Watchdog_Action.NOTIFY,
};

const WATCHDOG_STATES: Readonly<Record<WatchdogState, Watchdog_State>> = {
  armed: Watchdog_State.ARMED,
  warned: Watchdog_State.WARNED,
  fired: Watchdog_State.FIRED,
  disarmed: Watchdog_State.DISARMED,
};

export const WATCHDOG_CASES = {
  max_duration: 'maxDuration',
  unused_for: 'unusedFor',
  empty_for: 'emptyFor',
  host_absent_for: 'hostAbsentFor',
  alone_for: 'aloneFor',
  participant_max_duration: 'participantMaxDuration',
  unadmitted_for: 'unadmittedFor',
} as const satisfies Record<WatchdogCondition, string>;

export function renderWatchdog(watchdog: Watchdog): MessageInitShape<typeof WatchdogSchema> {
  return {
    id: watchdog.id,
    room: watchdog.room,
    roomUid: watchdog.roomUid,
    condition: { case: WATCHDOG_CASES[watchdog.condition], value: durationFromMs(watchdog.durationMs) },
    action: WATCHDOG_ACTIONS[watchdog.action],
    ...(watchdog.warnBeforeMs > 0 && { warnBefore: durationFromMs(watchdog.warnBeforeMs) }),
    state: WATCHDOG_STATES[watchdog.state],
    ...(watchdog.deadline && { deadline: timestampFromDate(watchdog.deadline) }),
    ...(watchdog.firedAt && { fireTime: timestampFromDate(watchdog.firedAt) }),
    createTime: timestampFromDate(watchdog.createdAt),
  };
}

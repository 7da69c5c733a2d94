/** Schemas of what is told of rooms, and of who is in them. */
import { CAPABILITIES } from '../../../access/rights/capabilities.ts';
import { PUBLISH_RIGHTS } from '../../../access/rights/publish-rights.ts';
import { described, Type, time, words } from '../../../base/lib/schema.ts';
import { MODERATION_ACTIONS } from '../../../control/moderation/moderation-event.ts';
import { LEAVE_REASONS } from '../../../control/rooms/participant.ts';
import { WATCHDOG_ACTIONS, WATCHDOG_CONDITIONS } from '../../../control/watchdogs/watchdog.ts';
import { ROLES, TIERS } from '../../../money/pricing/role.ts';
import { eventSeq } from '../event-schema.ts';

const room = Type.String({ description: 'The name of the room' });
const roomUid = Type.String({ description: 'The uid of the room, which no later room of the name has' });
const rights = (description: string) => Type.Array(words(PUBLISH_RIGHTS), { description });
const capabilities = (description: string) => Type.Array(words(CAPABILITIES), { description });

const PolicySchema = Type.Object(
  {
    mode: words(['MEETING', 'BROADCAST'] as const, {
      description: '`MEETING`: any participant may get the right to publish; `BROADCAST`: few publish',
    }),
    e2ee_required: Type.Boolean({ description: 'Media must be encrypted from end to end' }),
    age_verification_required: Type.Boolean({ description: 'Only users whose age was verified may enter' }),
    region: Type.String({ description: 'Where relays should serve the room. May be empty' }),
    max_participants: Type.Integer({ description: 'How many users may be present. 0: no limit' }),
    locked: Type.Boolean({ description: 'New users may not enter' }),
    host_capabilities: capabilities('What tokens of hosts grant if a mint names nothing. Empty: the usual'),
    audience_capabilities: capabilities('The same for the other roles'),
    mute_on_entry: Type.Boolean({ description: 'Clients start with the microphone off' }),
  },
  { description: 'The rules of the room' },
);

export const RoomSchema = Type.Object(
  {
    name: Type.String({ description: 'The name of the room' }),
    uid: described(roomUid, 'Identifies the room. A later room of the name has another one'),
    state: words(['live', 'ended'] as const, { description: 'Whether users may still enter' }),
    policy: PolicySchema,
    created_at: time('When it was created'),
    ended_at: Type.Optional(time('When it ended. Absent: it is live')),
    end_reason: Type.Optional(
      words(['ended', 'closed', 'watchdog'] as const, {
        description: '`closed`: by a moderator. Absent: it is live',
      }),
    ),
    participant_count: Type.Integer({ description: 'How many users are present' }),
    metadata: Type.String({ description: "The tenant's own text. May be empty" }),
  },
  { description: 'A room' },
);

const DeviceSchema = Type.Object(
  {
    thumbprint: Type.String({ description: 'The thumbprint of the key of the device' }),
    key_id: Type.String({ description: 'The API key or device credential that asked for its last token' }),
    customer: Type.Optional(
      Type.String({ description: 'The customer that the mint of its last token named. Absent: none' }),
    ),
    expires_at: time('When its last token expires'),
  },
  { description: 'A device of the user' },
);

export const ParticipantSchema = Type.Object(
  {
    room,
    room_uid: roomUid,
    username: Type.String({ description: 'The name of the user' }),
    role: words(ROLES, { description: 'The role in the room' }),
    rank: Type.Integer({ description: '0 to 99. Moderators act only on lower ranks' }),
    // Tokens of older versions may have granted others.
    capabilities: Type.Array(Type.String(), {
      description: 'What the user may do, without what a moderator has taken away',
    }),
    muted: rights('What a moderator has muted'),
    publish_revoked: rights('What a moderator has revoked the right to publish'),
    tier: Type.Optional(
      words(TIERS, { description: 'The tier of the newest usage record. Absent: none yet' }),
    ),
    entered_at: time('When the user last entered'),
    last_seen_at: Type.Optional(time('When the newest usage record arrived. Absent: none yet')),
    expires_at: time('When the last token expires'),
    left_at: Type.Optional(time('When the user left. Absent: the user is present')),
    leave_reason: Type.Optional(
      words(LEAVE_REASONS, { description: 'Why the user left. Absent: the user is present' }),
    ),
    devices: Type.Array(DeviceSchema, { description: 'Devices with valid tokens' }),
  },
  { description: 'A user in a room' },
);

const TargetSchema = Type.Object(
  {
    kind: words(['user', 'device', 'cidr'] as const, { description: 'What `value` is' }),
    value: Type.String({ description: 'A username, the thumbprint of a device, or a range of addresses' }),
  },
  { description: 'On whom or what the moderator acted. Absent: on the room' },
);

export const ModerationSchema = Type.Object(
  {
    id: eventSeq('The number of the event. The record of the act has it as its id'),
    action: words(MODERATION_ACTIONS, { description: 'What was done' }),
    room: Type.Optional(described(room, 'The name of the room. Absent: the whole tenant')),
    room_uid: Type.Optional(described(roomUid, 'The uid of the room. Absent: the whole tenant')),
    subject: Type.Optional(TargetSchema),
    tracks: rights('Which tracks, for mutes and rights to publish'),
    reason: Type.String({ description: 'As given. May be empty' }),
    actor: Type.Optional(
      Type.String({ description: 'The participant who acted. Absent: the tenant, or a watchdog' }),
    ),
    key_id: Type.Optional(
      Type.String({ description: 'The API key of the call. Absent: a watchdog, or a person at the console' }),
    ),
    member_id: Type.Optional(
      Type.String({ description: 'The member who acted at the console. Absent: none' }),
    ),
    watchdog_id: Type.Optional(Type.String({ description: 'The watchdog that acted. Absent: none' })),
    at: time('When it was done'),
    expires_at: Type.Optional(time('When the ban ends. Absent: it has no end, or is no ban')),
  },
  { description: 'What a moderator did' },
);

export const WatchdogSchema = Type.Object(
  {
    id: Type.String({ description: 'The id of the watchdog' }),
    room,
    room_uid: roomUid,
    condition: words(WATCHDOG_CONDITIONS, { description: 'What it waits for' }),
    duration_ms: Type.Integer({ description: 'How long that must last, in milliseconds' }),
    action: words(WATCHDOG_ACTIONS, { description: 'What it does then' }),
    warn_before_ms: Type.Integer({ description: 'How long before an event warns of it. 0: none does' }),
    state: words(['armed', 'warned', 'fired', 'disarmed'] as const, { description: 'Where it stands' }),
    deadline: Type.Optional(
      time('When it will fire if nothing changes. Absent: its condition does not hold'),
    ),
    fired_at: Type.Optional(time('When it last fired. Absent: it has not')),
    created_at: time('When it was created'),
  },
  { description: 'A watchdog of a room' },
);

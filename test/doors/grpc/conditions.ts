/**
 * For each method a request that succeeds, and for each condition in the table of errors the ways to
 * trigger it.
 */
import type { DescMethod } from '@bufbuild/protobuf';
import { nameOf } from '../../../scripts/error-table.ts';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { renderToken } from '../../../src/doors/grpc/fields.ts';
import {
  ABSENT_ROOM,
  BUDGETS,
  FOREIGN_ROOM,
  type KeyName,
  thumbprintOf,
  USED_KEY,
  WATCHDOGS,
  type World,
} from './world.ts';

/** Fields of a request, as `create()` accepts them. */
export type Fields = Readonly<Record<string, unknown>>;

export type WorldName =
  | 'usual'
  | 'foreign'
  | 'deleted'
  | 'suspended'
  | 'archived'
  | 'pending'
  | 'spent'
  | 'budgeted'
  | 'crowded'
  | 'watched'
  | 'full'
  | 'packed';

export type Worlds = Readonly<Record<WorldName, World>>;

/** One way to trigger a condition. Omitted members stay as in a call that succeeds. */
export interface Way {
  readonly what: string;
  readonly world?: WorldName;
  readonly key?: KeyName;
  /** Replaces the key; `null`: no key. */
  readonly authorization?: string | null;
  /** Bytes to send in place of a message. */
  readonly bytes?: Buffer;
  /** From an address that has exhausted its wrong keys. */
  readonly fromBlocked?: true;
  /** Changed fields: values, or functions of the current value. */
  readonly fields?: (fields: Fields, at: { readonly worlds: Worlds; readonly method: DescMethod }) => Fields;
  /** Paths that must stay unchanged for the condition to hold. */
  readonly needs?: readonly string[];
  /** For this method only. */
  readonly only?: string;
}

const HOUR = { seconds: 3_600n };
const AUDIO = 1;
const ann = { username: 'ann', deviceThumbprint: thumbprintOf('ann') };
const target = { room: 'live', username: 'ann' };
const tracks = { ...target, tracks: [AUDIO] };
const subject = { case: 'username', value: 'ann' };

/** Each succeeds in its own world, and changes nothing that another one needs. */
export const VALID: Readonly<Record<string, (world: World) => Fields>> = {
  'RoomService.CreateRoom': () => ({ room: 'live-new', policy: {} }),
  'RoomService.GetRoom': () => ({ room: 'live' }),
  'RoomService.ListRooms': () => ({}),
  'RoomService.UpdateRoomPolicy': () => ({
    room: 'live',
    policy: { locked: true },
    updateMask: { paths: ['locked'] },
  }),
  'RoomService.EndRoom': () => ({ room: 'live' }),
  'RoomService.WatchEvents': () => ({}),
  'RoomService.ListEvents': () => ({}),
  'ParticipantService.GetParticipant': () => target,
  'ParticipantService.ListParticipants': () => ({ room: 'live' }),
  'ParticipantService.WatchParticipants': () => ({ room: 'live' }),
  'ModerationService.KickParticipant': () => target,
  'ModerationService.BanSubject': () => ({ room: 'live', subject }),
  'ModerationService.UnbanSubject': () => ({ room: 'live', subject: { ...subject, value: 'villain' } }),
  'ModerationService.ListBans': () => ({}),
  'ModerationService.ForceMute': () => tracks,
  'ModerationService.ReleaseMute': () => tracks,
  'ModerationService.RevokePublish': () => tracks,
  'ModerationService.RestorePublish': () => tracks,
  'ModerationService.CloseRoom': () => ({ room: 'live' }),
  'ModerationService.ListModerationEvents': () => ({}),
  'TokenService.MintClientToken': () => ({
    room: 'live',
    username: 'newcomer',
    deviceThumbprint: thumbprintOf('newcomer'),
    role: 'audience',
    capabilities: ['chat.send'],
    lifetime: { seconds: 300n },
  }),
  'TokenService.CreateDeviceCredential': () => ({ name: 'a device' }),
  'TokenService.ListDeviceCredentials': () => ({}),
  'TokenService.RotateDeviceCredential': (world) => ({ id: world.credentials.works }),
  'TokenService.RevokeDeviceCredential': (world) => ({ id: world.credentials.works }),
  'WatchdogService.CreateWatchdog': () => ({
    watchdog: { room: 'live', condition: { case: 'maxDuration', value: HOUR }, action: 4 },
  }),
  'WatchdogService.GetWatchdog': () => ({ id: WATCHDOGS.armed }),
  'WatchdogService.ListWatchdogs': () => ({}),
  'WatchdogService.UpdateWatchdog': () => ({
    watchdog: {
      id: WATCHDOGS.armed,
      condition: { case: 'emptyFor', value: HOUR },
      action: 4,
      warnBefore: { seconds: 1n },
    },
    updateMask: { paths: ['empty_for', 'action', 'warn_before'] },
  }),
  'WatchdogService.DeleteWatchdog': () => ({ id: WATCHDOGS.armed }),
  'BudgetService.SetBudget': () => ({
    id: 'new',
    customer: 'acme',
    period: 'month',
    limitMicros: 5_000_000n,
    alertPercents: [80, 50],
  }),
  'BudgetService.GetBudget': () => ({ id: BUDGETS.own }),
  'BudgetService.ListBudgets': () => ({}),
  'BudgetService.DeleteBudget': () => ({ id: BUDGETS.own }),
};

/** Ways that each set one field to a value. */
function values(field: string, given: Readonly<Record<string, unknown>>): Way[] {
  return Object.entries(given).map(([what, value]) => ({ what, fields: () => ({ [field]: value }) }));
}

/** The same inside a message. With an update mask, the field is added to it. */
function inside(field: string, child: string, given: Readonly<Record<string, unknown>>): Way[] {
  return Object.entries(given).map(([what, value]) => ({
    what,
    fields: (fields) => ({ [field]: { ...(fields[field] as object), [child]: value } }),
  }));
}

function policy(child: string, path: string, given: Readonly<Record<string, unknown>>): Way[] {
  return Object.entries(given).map(([what, value]) => ({
    what,
    fields: (fields) => ({
      policy: { [child]: value },
      ...('updateMask' in fields && { updateMask: { paths: [path] } }),
    }),
  }));
}

/** The request's room, in any field. */
function inRoom(what: string, name: string): Way {
  return {
    what,
    fields: (fields) =>
      fields.watchdog ? { watchdog: { ...(fields.watchdog as object), room: name } } : { room: name },
  };
}

/** The request's user, thumbprint or range. */
function who(what: string, kind: 'username' | 'deviceThumbprint' | 'cidr', value: string): Way {
  return {
    what,
    fields: (_fields, { method }) =>
      method.input.oneofs.length > 0 ? { subject: { case: kind, value } } : { [kind]: value },
  };
}

const as = (name: string) => ({ username: name, deviceThumbprint: thumbprintOf(name) });

/** A way that needs the room `live` and its participants. */
const here = (way: Way): Way => ({ ...way, needs: [...(way.needs ?? []), 'room', 'roomUid'] });

const LONG = 'a'.repeat(1_000);
const NO_NAMES = { 'with a space': 'a b', 'of dots': '..', 'too long': 'a'.repeat(129), NUL: 'a\0' };
const NO_THUMBPRINTS = { short: 'abc', long: 'a'.repeat(44), 'other characters': '+'.repeat(43), NUL: '\0' };
const NO_USERNAMES = {
  'with a space': 'a b',
  'too long': 'a'.repeat(65),
  NUL: 'a\0',
  'a control character': '\u0001',
};
const NO_TOKENS = {
  'no base64url': '~',
  'no JSON': 'AAAA',
  'of another answer': renderToken(['a', 'b', 'c', 'd', 'e']),
  'of nothing': renderToken([]),
  NUL: '\0',
};
const NO_TIMES = {
  'after year 9999': { seconds: 253_402_300_800n },
  'before year 1': { seconds: -62_135_596_801n },
  'far away': { seconds: 2n ** 63n - 1n },
  'negative nanos': { seconds: 0n, nanos: -1 },
};
const NEGATIVE = { seconds: -1n };
const FAR = { seconds: 2n ** 63n - 1n };
const MIXED = { seconds: 1n, nanos: -1_000_000 };

const TARGET_METHODS = ['KickParticipant', 'ForceMute', 'ReleaseMute', 'RevokePublish', 'RestorePublish'];
const of = (only: string, ways: readonly Way[]): Way[] => ways.map((way) => ({ ...way, only }));

/** By condition. Ways with `only` replace the others for that method. */
export const WAYS: Readonly<Record<string, readonly Way[]>> = {
  no_credentials: [{ what: 'none', authorization: null }],
  key_malformed: [
    { what: 'empty', authorization: '' },
    { what: 'empty bearer', authorization: 'Bearer ' },
    { what: 'another scheme', authorization: 'Basic YTpi' },
    { what: 'no key', authorization: 'Bearer key' },
    { what: 'another prefix', authorization: `Bearer ${newKey('other').plaintext}` },
  ],
  key_unknown: [
    { what: 'never made', authorization: `Bearer ${newKey('svc').plaintext}` },
    { what: 'revoked', key: 'revoked' },
  ],
  too_many_failed_keys: [
    { what: 'another wrong one', authorization: `Bearer ${newKey('svc').plaintext}`, fromBlocked: true },
  ],
  relay_key: [{ what: 'relay', key: 'relay' }],
  message_malformed: [
    { what: 'a field that ends too early', bytes: Buffer.from([0x0a, 0x7f]) },
    { what: 'a wire type that does not exist', bytes: Buffer.from([0x0f]) },
    { what: 'text that is not UTF-8', bytes: Buffer.from([0x0a, 0x02, 0xff, 0xfe]) },
  ],
  tenant_missing: values('tenant', { empty: '' }),
  tenant_other: [
    { what: 'another', fields: (_, { worlds }) => ({ tenant: worlds.foreign.id }) },
    ...values('tenant', { absent: 't_0123456789abcdef', malformed: 't_1', NUL: '\0' }),
  ],
  tenant_deleted: [{ what: 'deleted', world: 'deleted' }],
  tenant_closed: [
    { what: 'suspended', world: 'suspended' },
    { what: 'archived', world: 'archived' },
  ],

  idempotency_key_malformed: values('idempotencyKey', {
    'too long': 'a'.repeat(129),
    unprintable: '\n',
    other: 'é',
  }),
  idempotency_key_reused: values('idempotencyKey', { 'for another request': USED_KEY }),
  actor_username_malformed: values('actor', {
    missing: { deviceThumbprint: ann.deviceThumbprint },
    malformed: { ...ann, username: 'a b' },
    empty: {},
  }),
  actor_device_malformed: values('actor', {
    missing: { username: 'ann' },
    malformed: { username: 'ann', deviceThumbprint: 'abc' },
  }),
  page_size_malformed: values('pageSize', { negative: -1, 'too large': 501 }),
  page_token_malformed: values('pageToken', NO_TOKENS),
  resume_token_malformed: values('resumeToken', NO_TOKENS),
  reason_malformed: values('reason', { 'too long': LONG, NUL: '\0' }),

  room_missing: values('room', { empty: '' }),
  room_malformed: values('room', NO_NAMES),
  room_uid_malformed: values('roomUid', { 'no uid': 'rm_1', NUL: '\0' }),
  metadata_malformed: values('metadata', { 'too long': 'a'.repeat(4_097), NUL: '\0' }),
  mode_unknown: policy('mode', 'mode', { unknown: 99 }),
  region_malformed: policy('region', 'region', { capitals: 'EU', long: 'a'.repeat(65), NUL: '\0' }),
  participants_malformed: policy('maxParticipants', 'max_participants', { negative: -1, large: 100_001 }),
  host_capability_unknown: policy('hostCapabilities', 'host_capabilities', { unknown: ['fly'] }),
  audience_capability_unknown: policy('audienceCapabilities', 'audience_capabilities', { unknown: ['fly'] }),
  mask_missing: values('updateMask', { absent: undefined, empty: {} }),
  mask_unknown: values('updateMask', {
    unknown: { paths: ['color'] },
    star: { paths: ['*'] },
    empty: { paths: [''] },
    'in another spelling': { paths: ['muteOnEntry'] },
    NUL: { paths: ['\0'] },
  }),
  policy_immutable: values('updateMask', { mode: { paths: ['mode'] } }),
  policy_missing: values('policy', { absent: undefined }),
  state_unknown: values('state', { unknown: 99, negative: -1 }),
  name_prefix_malformed: values('namePrefix', { 'with a space': 'a b', 'too long': LONG, NUL: '\0' }),
  time_from_malformed: values('createTimeFrom', NO_TIMES),
  time_before_malformed: values('createTimeBefore', NO_TIMES),
  wait_malformed: values('wait', {
    negative: NEGATIVE,
    'too long': { seconds: 31n },
    far: FAR,
    mixed: MIXED,
  }),
  username_missing: [who('empty', 'username', '')],
  username_malformed: Object.entries(NO_USERNAMES).map(([what, name]) => who(what, 'username', name)),
  thumbprint_missing: [who('empty', 'deviceThumbprint', '')],
  thumbprint_malformed: Object.entries(NO_THUMBPRINTS).map(([what, text]) =>
    who(what, 'deviceThumbprint', text),
  ),
  subject_missing: values('subject', { none: undefined }),
  cidr_malformed: [
    '192.0.2.1/24',
    '2001:db8::1/48',
    '::ffff:192.0.2.0/120',
    'fe80::%eth0/64',
    '8.0.0.0/7',
    '2000::/15',
    '192.0.2.0',
    '192.0.2.0/33',
    '192.0.2/24',
    '010.0.0.0/8',
    '',
    '\0',
  ].map((text) => who(JSON.stringify(text), 'cidr', text)),
  ttl_malformed: values('ttl', { negative: NEGATIVE, far: FAR, mixed: MIXED, fine: { nanos: 1 } }),
  tracks_missing: values('tracks', { none: [] }),
  track_unknown: values('tracks', { unspecified: [0], unknown: [99], negative: [-1] }),
  role_unknown: values('role', { unknown: 'king', NUL: '\0', 'in capitals': 'HOST' }),
  capability_unknown: values('capabilities', { unknown: ['fly'], empty: [''], NUL: ['\0'] }),
  rank_malformed: values('rank', { negative: -1, large: 100 }),
  lifetime_malformed: values('lifetime', {
    zero: {},
    negative: NEGATIVE,
    '15:01': { seconds: 901n },
    'half a second more': { seconds: 60n, nanos: 500_000_000 },
    far: FAR,
    mixed: MIXED,
  }),
  client_address_malformed: values('clientAddress', {
    name: 'localhost',
    range: '10.0.0.0/8',
    long: LONG,
    NUL: '\0',
  }),
  name_malformed: values('name', { empty: '', 'too long': 'a'.repeat(101), NUL: '\0' }),
  publish_unknown: values('publish', { unspecified: [0], unknown: [99] }),
  room_pattern_malformed: values('rooms', { 'with a space': ['a b'], empty: [''], NUL: ['\0'] }),
  rooms_too_many: values('rooms', { '21': Array.from({ length: 21 }, () => 'a') }),
  default_room_malformed: values('defaultRoom', NO_NAMES),
  expire_time_malformed: values('expireTime', NO_TIMES),
  overlap_malformed: values('overlap', {
    negative: NEGATIVE,
    'more than 7 days': { seconds: 604_801n },
    'half a second': { nanos: 500_000_000 },
    far: FAR,
  }),
  id_malformed: values('id', { empty: '', 'no id': 'wd', NUL: '\0', upper: 'A'.repeat(16) }),
  watchdog_missing: values('watchdog', { absent: undefined }),
  watchdog_id_malformed: inside('watchdog', 'id', { empty: '', 'no id': 'wd', NUL: '\0' }),
  watchdog_room_malformed: inside('watchdog', 'room', { empty: '', ...NO_NAMES }),
  condition_missing: inside('watchdog', 'condition', { none: undefined }),
  condition_malformed: inside('watchdog', 'condition', {
    zero: { case: 'emptyFor', value: {} },
    negative: { case: 'emptyFor', value: NEGATIVE },
    'too long': { case: 'emptyFor', value: { seconds: 31_622_401n } },
    fine: { case: 'emptyFor', value: { seconds: 2n, nanos: 1 } },
  }),
  action_unknown: inside('watchdog', 'action', { unspecified: 0, unknown: 99 }),
  action_unfit: [
    {
      what: 'nobody to kick',
      fields: ({ watchdog }) => ({
        watchdog: { ...(watchdog as object), condition: { case: 'emptyFor', value: HOUR }, action: 2 },
      }),
    },
  ],
  warn_before_malformed: inside('watchdog', 'warnBefore', { negative: NEGATIVE, far: FAR, mixed: MIXED }),
  warn_before_unfit: inside('watchdog', 'warnBefore', { 'as long': HOUR }),
  budget_id_malformed: values('id', {
    empty: '',
    'in capitals': 'Acme',
    long: 'a'.repeat(65),
    dash: '-a',
    NUL: 'a\0',
  }),
  key_id_malformed: values('key', { short: 'abc', upper: 'A'.repeat(16), NUL: '\0' }),
  budget_room_malformed: values('room', { 'with a space': 'a b', 'too long': LONG, NUL: '\0' }),
  customer_malformed: values('customer', {
    'too long': 'a'.repeat(129),
    NUL: '\0',
    'two lines': 'a\nb',
    'another direction': '\u202ea',
  }),
  period_unknown: values('period', { empty: '', week: 'week', 'in capitals': 'DAY' }),
  limit_malformed: values('limitMicros', {
    negative: -1n,
    'of 2^53': 2n ** 53n,
    'of int64': 2n ** 63n - 1n,
  }),
  percent_malformed: values('alertPercents', { zero: [0], negative: [-1], more: [101] }),
  percents_malformed: values('alertPercents', {
    twice: [50, 50],
    '11': Array.from({ length: 11 }, (_, at) => at + 1),
  }),

  room_not_found: [inRoom('absent', ABSENT_ROOM.name), inRoom('foreign', FOREIGN_ROOM.name)],
  participant_not_found: [who('absent', 'username', 'nobody'), here(who('foreign', 'username', 'stranger'))],
  ban_not_found: [who('absent', 'username', 'nobody'), here(who('foreign', 'username', 'stranger'))],
  watchdog_not_found: [
    ...values('id', { absent: WATCHDOGS.absent, foreign: WATCHDOGS.foreign }),
    ...of(
      'WatchdogService.UpdateWatchdog',
      inside('watchdog', 'id', { absent: WATCHDOGS.absent, foreign: WATCHDOGS.foreign }),
    ),
  ],
  budget_not_found: values('id', { absent: 'absent', foreign: BUDGETS.foreign }),
  credential_not_found: [
    { what: 'absent', fields: () => ({ id: '0123456789abcdef' }) },
    { what: 'foreign', fields: (_, { worlds }) => ({ id: worlds.foreign.credentials.works }) },
  ],

  capability_required: [
    ...values('actor', {
      'without the capability': as('weak'),
      'on another device': { username: 'mod', deviceThumbprint: thumbprintOf('ann') },
      'who is not there': as('nobody'),
      'whose token has lapsed': as('gone'),
    }),
    ...of('ParticipantService.WatchParticipants', values('actor', { 'without the capability': as('weak') })),
    ...of('ModerationService.BanSubject', [
      ...values('actor', { 'without the capability': as('weak') }),
      { what: 'of no room', fields: () => ({ room: '', actor: as('mod') }) },
    ]),
    ...of('WatchdogService.ListWatchdogs', [
      ...['weak', 'nobody', 'gone'].map((name) => ({
        what: `${name} in a room`,
        fields: () => ({ room: 'live', actor: as(name) }),
      })),
      { what: 'of no room', fields: () => ({ actor: as('mod') }) },
    ]),
  ],
  standing_insufficient: [
    ...TARGET_METHODS.flatMap((name) =>
      of(
        `ModerationService.${name}`,
        ['peer', 'mod', 'boss'].map((username) =>
          here({ what: username, fields: () => ({ username, actor: as('mod') }) }),
        ),
      ),
    ),
    ...of('ModerationService.BanSubject', [
      ...['peer', 'mod', 'boss'].map((value) =>
        here({ what: value, fields: () => ({ subject: { case: 'username', value }, actor: as('mod') }) }),
      ),
      here({
        what: 'the own device',
        fields: () => ({
          subject: { case: 'deviceThumbprint', value: thumbprintOf('mod') },
          actor: as('mod'),
        }),
      }),
    ]),
    ...of('ModerationService.UnbanSubject', [
      here({ what: 'a ban of a higher rank', needs: ['subject'], fields: () => ({ actor: as('mod') }) }),
    ]),
  ],
  ceiling_room: values('room', { other: 'other' }).map((way) => ({ ...way, key: 'narrow' as const })),
  ceiling_role: values('role', { host: 'host', broadcast: 'broadcast_audience' }).map((way) => ({
    ...way,
    key: 'narrow' as const,
  })),
  ceiling_capability: values('capabilities', { other: ['publish.video'], none: [] }).map((way) => ({
    ...way,
    key: 'narrow' as const,
  })),
  ceiling_rank: [
    ...values('rank', { 'of every key': 81, 'the highest': 99 }),
    { what: 'of this key', key: 'narrow', fields: () => ({ rank: 51 }) },
  ],
  ceiling_lifetime: values('lifetime', { 'of this key': { seconds: 601n } }).map((way) => ({
    ...way,
    key: 'narrow' as const,
  })),

  ceiling_credential: [
    { what: 'every room and the usual capabilities', key: 'narrow' },
    ...of('TokenService.CreateDeviceCredential', [
      ...values('publish', { 'a right': [AUDIO] }).map((way) => ({ ...way, key: 'narrow' as const })),
      ...values('rooms', { 'another room': ['other'] }).map((way) => ({ ...way, key: 'narrow' as const })),
    ]),
  ],

  condition_immutable: [
    {
      what: 'max_duration',
      needs: ['watchdog.id'],
      fields: ({ watchdog }) => ({
        watchdog: { ...(watchdog as object), condition: { case: 'maxDuration', value: HOUR } },
        updateMask: { paths: ['max_duration', 'action', 'warn_before'] },
      }),
    },
  ],
  budget_immutable: [
    { what: 'period', needs: ['period'], fields: () => ({ id: BUDGETS.own, period: 'day' }) },
  ],
  key_unfit: values('key', { absent: '0123456789abcdef' }),
  new_action_unfit: inside('watchdog', 'action', { 'nobody to kick': 2 }),
  new_warn_before_unfit: inside('watchdog', 'warnBefore', { 'as long': HOUR }),
  default_room_unfit: [{ what: 'another', fields: () => ({ rooms: ['live*'], defaultRoom: 'lobby' }) }],
  expire_time_past: values('expireTime', { past: { seconds: 1n } }),

  banned: [
    who('the user everywhere', 'username', 'outcast'),
    here(who('the user here', 'username', 'villain')),
    who('the device', 'deviceThumbprint', thumbprintOf('outcast')),
    ...values('clientAddress', {
      'the address': '192.0.2.7',
      'the address in other clothes': '::ffff:192.0.2.7',
    }),
  ],
  tenant_not_active: [
    { what: 'suspended', world: 'suspended' },
    { what: 'archived', world: 'archived' },
  ],
  room_ended: [inRoom('ended', 'live-over')],
  age_unverified: [inRoom('for adults', 'live-age')],
  room_locked: [inRoom('locked', 'live-locked')],
  room_full: [inRoom('full', 'live-full')],
  too_many_bans: [{ ...who('the 1001st', 'cidr', '198.51.100.0/24'), world: 'crowded' }],
  watchdog_over: inside('watchdog', 'id', { fired: WATCHDOGS.fired, disarmed: WATCHDOGS.disarmed }),
  watchdog_fired: values('id', { fired: WATCHDOGS.fired }),
  credential_revoked: [
    { what: 'revoked', fields: (_, { worlds }) => ({ id: worlds.usual.credentials.revoked }) },
  ],
  credential_rotated: [
    { what: 'rotated', fields: (_, { worlds }) => ({ id: worlds.usual.credentials.rotated }) },
  ],
  credential_expired: [
    { what: 'expired', fields: (_, { worlds }) => ({ id: worlds.usual.credentials.expired }) },
  ],
  username_confusable: [here(who('in Cyrillic', 'username', '\u0430nn'))],
  no_credit: [
    { what: 'never paid', world: 'pending' },
    { what: 'spent', world: 'spent' },
  ],
  budget_reached: [{ what: 'reached', world: 'budgeted' }],
  room_exists: values('room', { live: 'live' }),
  too_many_streams: [{ what: "a tenant's 101st", world: 'watched' }],
  rooms_quota: [{ what: 'full', world: 'full' }],
  watchdogs_quota: [
    { what: 'of the tenant', world: 'full' },
    { what: 'of the room', world: 'packed' },
  ],
  budgets_quota: [{ what: 'full', world: 'full', needs: ['id'] }],
  bans_quota: [{ what: 'full', world: 'full' }],
  credentials_quota: [{ what: 'full', world: 'full' }],
  retiring_quota: [{ what: 'full', world: 'full', needs: ['id'] }],
  watchdog_exists: inside('watchdog', 'condition', { 'of that kind': { case: 'emptyFor', value: HOUR } }),
};

/** The ways to trigger `condition` for `method`. */
export function waysOf(method: DescMethod, condition: string): readonly Way[] {
  const ways = WAYS[condition] ?? [];
  const own = ways.filter((way) => way.only === nameOf(method));
  return own.length > 0 ? own : ways.filter((way) => way.only === undefined);
}

import { Event_Type, EventSchema } from '@boxoffice/contract/event';
import {
  type BanSubjectRequest,
  BanSubjectRequestSchema,
  ModerationService,
} from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomPolicySchema, RoomSchema } from '@boxoffice/contract/room';
import {
  CreateRoomRequestSchema,
  ListRoomsRequestSchema,
  RoomService,
} from '@boxoffice/contract/room_service';
import { MintClientTokenRequestSchema, TokenService } from '@boxoffice/contract/token_service';
import { WatchdogSchema } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { create, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { durationFromMs, durationMs, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type {
  Ban,
  Participant,
  Room,
  Watchdog,
  WatchedEvent,
} from '../../../sdk/typescript/src/backend/index.ts';
import { fromPlain, maskOf, type Request, toPlain } from '../../../sdk/typescript/src/backend/plain.ts';

const TIME = new Date('2026-01-02T03:04:05.678Z');

describe('messages become plain objects', () => {
  test('times, enums and nested messages', () => {
    const room = create(RoomSchema, {
      name: 'lobby',
      state: 1,
      policy: { mode: 2, hostCapabilities: ['room.end'] },
      createTime: timestampFromDate(TIME),
    });
    expect(toPlain(RoomSchema, room)).toStrictEqual({
      name: 'lobby',
      uid: '',
      state: 'live',
      policy: {
        mode: 'broadcast',
        e2eeRequired: false,
        ageVerificationRequired: false,
        region: '',
        maxParticipants: 0,
        locked: false,
        hostCapabilities: ['room.end'],
        audienceCapabilities: [],
        muteOnEntry: false,
      },
      createTime: TIME,
      endReason: '',
      participantCount: 0,
      metadata: '',
    });
  });

  test('durations are seconds, and oneof members are plain fields', () => {
    const condition = { case: 'emptyFor', value: durationFromMs(90_500) } as const;
    const watchdog = toPlain(WatchdogSchema, create(WatchdogSchema, { id: 'wd', action: 3, condition }));
    expect(watchdog).toMatchObject({ id: 'wd', action: 'revoke_publish', emptyForSeconds: 90.5 });
    expect(watchdog).not.toHaveProperty('condition');
    const event = toPlain(EventSchema, create(EventSchema, { seq: 7n, type: Event_Type.ROOM_ENDED }));
    expect(event).toMatchObject({ seq: 7n, type: 'room_ended' });
  });

  test('an unknown word is `unknown`', () => {
    const room = create(RoomSchema, { state: 77 as never });
    expect(toPlain(RoomSchema, room).state).toBe('unknown');
    expect(toPlain(RoomSchema, create(RoomSchema)).state).toBe('unknown');
  });
});

describe('plain objects become messages', () => {
  test('all kinds of fields', () => {
    const plain = { room: 'lobby', cidr: '192.0.2.0/24', ttlSeconds: 1.5, actor: { username: 'ann' } };
    expect(fromPlain(BanSubjectRequestSchema, plain)).toMatchObject({
      room: 'lobby',
      subject: { case: 'cidr', value: '192.0.2.0/24' },
      ttl: { seconds: 1n, nanos: 500_000_000 },
      actor: { username: 'ann' },
    });
    const request = fromPlain(ListRoomsRequestSchema, {
      state: 'ended',
      createTimeFrom: TIME,
      namePrefix: undefined,
    });
    expect(request).toMatchObject({ state: 2, createTimeFrom: timestampFromDate(TIME), namePrefix: '' });
  });

  test.each([
    [{ username: 'ann', cidr: '192.0.2.0/24' }, 'takes one of username, deviceThumbprint, cidr'],
    [{ user: 'ann' }, 'has no field user'],
    [{ tracks: ['audio'] }, 'has no field tracks'],
  ])('%j is refused', (plain, message) => {
    expect(() => fromPlain(BanSubjectRequestSchema, plain)).toThrow(message);
  });

  const POLICY = { room: 'a', policy: {} };
  test.each<[DescMessage, object, string]>([
    [CreateRoomRequestSchema, { room: null }, 'room must be a well-formed string'],
    [CreateRoomRequestSchema, { room: 'a\ud800' }, 'room must be a well-formed string'],
    [CreateRoomRequestSchema, { ...POLICY, policy: null }, 'policy must be an object'],
    [CreateRoomRequestSchema, { ...POLICY, policy: [] }, 'policy must be an object'],
    [CreateRoomRequestSchema, { policy: { fly: 1 } }, 'RoomPolicy has no field policy.fly'],
    [CreateRoomRequestSchema, { policy: { locked: 'yes' } }, 'policy.locked must be a boolean'],
    ...[1e12, 1.5, Number.NaN, '5', 5n, -(2 ** 31) - 1].map(
      (maxParticipants): [DescMessage, object, string] => [
        CreateRoomRequestSchema,
        { policy: { maxParticipants } },
        'policy.maxParticipants must be a whole number of 32 bits',
      ],
    ),
    [CreateRoomRequestSchema, { policy: { mode: 1 } }, 'policy.mode must be one of meeting, broadcast'],
    [
      CreateRoomRequestSchema,
      { policy: { hostCapabilities: ['room.end', undefined] } },
      'policy.hostCapabilities[1] must be a well-formed string',
    ],
    [
      CreateRoomRequestSchema,
      { policy: { hostCapabilities: 'room.end' } },
      'policy.hostCapabilities must be an array',
    ],
    ...['60', 1.0000001, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 60n, null].map(
      (lifetimeSeconds): [DescMessage, object, string] => [
        MintClientTokenRequestSchema,
        { lifetimeSeconds },
        'lifetimeSeconds must be a number of seconds, in whole milliseconds',
      ],
    ),
    ...[new Date(Number.NaN), '2026-01-02', 0].map((createTimeFrom): [DescMessage, object, string] => [
      ListRoomsRequestSchema,
      { createTimeFrom },
      'createTimeFrom must be a valid Date',
    ]),
  ])('%s: %o is refused with the path of the field', (desc, plain, message) => {
    expect(() => fromPlain(desc, plain)).toThrow(new TypeError(message));
  });

  test.each([0, 0.001, 1.001, 86_400.123, 31_622_400.001])('%d s are exact', (lifetimeSeconds) => {
    const { lifetime } = fromPlain(MintClientTokenRequestSchema, { lifetimeSeconds });
    expect(durationMs(lifetime!) / 1000).toBe(lifetimeSeconds);
  });

  test('an invalid word is refused, with the list of valid ones', () => {
    expect(() => fromPlain(ListRoomsRequestSchema, { state: 'unspecified' })).toThrow(
      new TypeError('state must be one of live, ended'),
    );
  });

  test("a mask has the contract's paths of the given fields", () => {
    expect(
      maskOf(RoomPolicySchema, { locked: false, maxParticipants: 0, region: undefined }, 'policy'),
    ).toStrictEqual({
      paths: ['locked', 'max_participants'],
    });
    expect(maskOf(WatchdogSchema, { emptyForSeconds: 9 }, 'watchdog')).toStrictEqual({
      paths: ['empty_for'],
    });
    for (const nothing of [{}, { locked: undefined }, undefined, null]) {
      expect(() => maskOf(RoomPolicySchema, nothing as object, 'policy')).toThrow(
        new TypeError('policy must have a field that is to change'),
      );
    }
  });
});

test('a message survives a round trip', () => {
  const watchdog = {
    room: 'lobby',
    action: 'kick',
    participantMaxDurationSeconds: 60,
    warnBeforeSeconds: 0.25,
  };
  expect(toPlain(WatchdogSchema, fromPlain(WatchdogSchema, watchdog))).toMatchObject(watchdog);
});

/** Every enum field of all messages that calls can contain, as `<message>.<field>`. */
function enumFields(): Map<string, DescEnum> {
  const found = new Map<string, DescEnum>();
  const seen = new Set<string>();
  const look = (field: DescField) => {
    if (field.enum) found.set(`${field.parent.name}.${field.localName}`, field.enum);
    if (!field.message || seen.has(field.message.typeName)) return;
    seen.add(field.message.typeName);
    field.message.fields.forEach(look);
  };
  for (const service of [RoomService, ParticipantService, ModerationService, TokenService, WatchdogService]) {
    for (const { input, output } of service.methods) [...input.fields, ...output.fields].forEach(look);
  }
  return found;
}

test('the types have a word list for every enum of the contract', () => {
  const known: Record<string, string> = {
    tracks: 'TrackKind',
    muted: 'TrackKind',
    publish: 'TrackKind',
    publishRevoked: 'TrackKind',
    mode: 'RoomPolicy.Mode',
    type: 'Event.Type',
    action: 'ModerationEvent.Action',
    'Watchdog.action': 'Watchdog.Action',
    state: 'Room.State',
    'Participant.state': 'Participant.State',
    'Watchdog.state': 'Watchdog.State',
  };
  const fields = enumFields();
  expect(fields.size).toBeGreaterThan(10);
  for (const [name, desc] of fields) {
    const expected = known[name] ?? known[name.split('.')[1]!];
    expect([name, desc.typeName]).toEqual([name, `boxoffice.control.v1.${expected}`]);
  }
});

test('types match the objects', () => {
  expectTypeOf<Room['state']>().toEqualTypeOf<'live' | 'ended' | 'unknown'>();
  expectTypeOf<Room['createTime']>().toEqualTypeOf<Date | undefined>();
  expectTypeOf<NonNullable<Room['policy']>['mode']>().toEqualTypeOf<'meeting' | 'broadcast' | 'unknown'>();
  expectTypeOf<Participant['state']>().toEqualTypeOf<'present' | 'left' | 'unknown'>();
  expectTypeOf<Participant['muted'][number]>().toEqualTypeOf<
    'audio' | 'video' | 'screen' | 'data' | 'unknown'
  >();
  expectTypeOf<Participant['devices'][number]['expireTime']>().toEqualTypeOf<Date | undefined>();
  expectTypeOf<Watchdog['emptyForSeconds']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Watchdog['warnBeforeSeconds']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Ban['cidr']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<WatchedEvent['seq']>().toEqualTypeOf<bigint>();
  expectTypeOf<NonNullable<WatchedEvent['participant']>['username']>().toEqualTypeOf<string>();
  expectTypeOf<keyof Ban>().not.toEqualTypeOf<keyof Ban | '$typeName' | 'subject'>();
  type Ask = Request<BanSubjectRequest, 'reason'>;
  expectTypeOf<Ask['ttlSeconds']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Ask['reason']>().toEqualTypeOf<string>();
  expectTypeOf<keyof Ask & ('tenant' | 'idempotencyKey')>().toEqualTypeOf<never>();
});

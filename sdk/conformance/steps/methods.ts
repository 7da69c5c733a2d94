/** Every method of the SDK once, with success. */
import type { At, House, Step } from '../step.ts';
import { thumbprintOf } from './devices.ts';

const RECORD = { role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 1_000_000 };
const ann = { room: 'lobby', username: 'ann' };

/** A room with a participant. */
async function withAnn(at: At): Promise<House> {
  const house = await at.house({ rooms: ['lobby'] });
  const deviceThumbprint = thumbprintOf('ann');
  await house.direct.tokens.mint({ room: 'lobby', username: 'ann', deviceThumbprint, role: 'host' });
  return house;
}

/** A tenant that has paid with a card. */
async function withCard(at: At): Promise<House> {
  const house = await at.house({ with: { status: 'pending', credit: false } });
  await at.world.pay(house);
  return house;
}

const ROOMS: Step[] = [
  {
    name: 'rooms.create',
    run: async (at) => {
      const { client } = await at.house();
      const policy = {
        mode: 'broadcast',
        e2ee_required: true,
        age_verification_required: true,
        region: 'eu-west',
        max_participants: 5,
        locked: true,
        host_capabilities: ['chat.send'],
        audience_capabilities: ['subscribe.audio'],
        mute_on_entry: true,
      };
      return await client.call('rooms.create', { room: 'lobby', policy, metadata: 'zoë "1"' });
    },
    expect: {
      ok: {
        name: 'lobby',
        uid: '<uid>',
        state: 'live',
        policy: {
          mode: 'broadcast',
          e2ee_required: true,
          age_verification_required: true,
          region: 'eu-west',
          max_participants: 5,
          locked: true,
          host_capabilities: ['chat.send'],
          audience_capabilities: ['subscribe.audio'],
          mute_on_entry: true,
        },
        create_time: '<create_time>',
        end_time: undefined,
        metadata: 'zoë "1"',
      },
    },
  },
  {
    name: 'rooms.get',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const { uid } = await direct.rooms.get({ room: 'lobby' });
      await direct.rooms.end({ room: 'lobby' });
      return [
        await client.call('rooms.get', { room: 'lobby' }),
        await client.call('rooms.get', { room_uid: uid }),
      ];
    },
    expect: Array(2).fill({
      ok: { name: 'lobby', state: 'ended', end_reason: 'ended', end_time: '<end_time>' },
    }),
  },
  {
    name: 'rooms.list',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['p1', 'p2', 'other', 'p3'] });
      await direct.rooms.end({ room: 'p2' });
      return await client.list('rooms.list', {
        state: 'live',
        name_prefix: 'p',
        create_time_from: '2020-01-02T03:04:05.678Z',
        create_time_before: '2999-01-01T00:00:00Z',
        page_size: 1,
      });
    },
    expect: { ok: [{ name: 'p3' }, { name: 'p1' }] },
  },
  {
    name: 'rooms.update_policy',
    run: async (at) => {
      const { client } = await at.house({ rooms: ['lobby'] });
      const change = (policy: object) => client.call('rooms.update_policy', { room: 'lobby', policy });
      const changed = await change({ max_participants: 7, locked: true, host_capabilities: ['chat.send'] });
      // Zero, false and empty are values.
      const cleared = await change({ max_participants: 0, locked: false, host_capabilities: [] });
      return [changed, cleared];
    },
    expect: [
      { ok: { policy: { max_participants: 7, locked: true, host_capabilities: ['chat.send'] } } },
      { ok: { policy: { max_participants: undefined, locked: undefined, host_capabilities: undefined } } },
    ],
  },
  {
    name: 'rooms.end',
    run: async (at) => {
      const { client } = await at.house({ rooms: ['lobby'] });
      return await client.call('rooms.end', { room: 'lobby' });
    },
    expect: { ok: { name: 'lobby', state: 'ended', end_reason: 'ended' } },
  },
  {
    name: 'rooms.watch',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const watch = client.watch('rooms.watch', {});
      const before = await watch.until(({ type }) => type === 'bookmark');
      await direct.rooms.end({ room: 'lobby' });
      const after = await watch.until(({ type }) => type === 'room_ended');
      const news = after.filter(({ type }) => type !== 'bookmark');
      return { before, news, end: await watch.end() };
    },
    expect: {
      before: [
        { type: 'reset', resume_token: undefined },
        { type: 'snapshot', room: { name: 'lobby', state: 'live' }, resume_token: undefined },
        { type: 'bookmark', resume_token: '<resume_token>' },
      ],
      news: [
        { type: 'room_ended', seq: '<seq>', room_uid: '<room_uid>', room: { name: 'lobby', state: 'ended' } },
      ],
      end: { error: { kind: 'Cancelled' } },
    },
  },
  {
    name: 'rooms.list_events',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['first'] });
      const listed = await client.call('rooms.list_events', {});
      const waiting = client.start('rooms.list_events', { resume_token: listed.ok.resume_token, wait: 20 });
      await direct.rooms.create({ room: 'second' });
      const { ok } = await waiting.outcome();
      return [listed, { ok }];
    },
    expect: [
      { ok: { events: [{ type: 'room_created', room: { name: 'first' } }], resume_token: '<resume_token>' } },
      { ok: { events: [{ type: 'room_created', room: { name: 'second' } }] } },
    ],
  },
];

const PARTICIPANTS: Step[] = [
  {
    name: 'participants.get',
    run: async (at) => (await withAnn(at)).client.call('participants.get', ann),
    expect: {
      ok: {
        ...ann,
        room_uid: '<room_uid>',
        state: 'present',
        role: 'host',
        rank: 80,
        devices: [{ thumbprint: thumbprintOf('ann'), key_id: '<key_id>', expire_time: '<expire_time>' }],
      },
    },
  },
  {
    name: 'participants.list',
    run: async (at) => {
      const { client, direct } = await withAnn(at);
      const deviceThumbprint = thumbprintOf('bob');
      await direct.tokens.mint({ room: 'lobby', username: 'bob', deviceThumbprint });
      await direct.moderation.kick({ room: 'lobby', username: 'bob' });
      return [
        await client.list('participants.list', { room: 'lobby' }),
        await client.list('participants.list', { room: 'lobby', include_left: true, page_size: 1 }),
      ];
    },
    expect: [
      { ok: [{ username: 'ann' }] },
      {
        ok: [
          { username: 'ann' },
          { username: 'bob', state: 'left', leave_reason: 'kicked', leave_time: '<leave_time>' },
        ],
      },
    ],
  },
  {
    name: 'participants.watch',
    run: async (at) => {
      const { client, direct } = await withAnn(at);
      const watch = client.watch('participants.watch', { room: 'lobby' });
      const before = await watch.until(({ type }) => type === 'bookmark');
      await direct.moderation.kick(ann);
      const after = await watch.until(({ type }) => type === 'participant_left');
      return { before, left: after.at(-1), end: await watch.end() };
    },
    expect: {
      before: [
        { type: 'reset' },
        { type: 'snapshot', participant: { username: 'ann', state: 'present' } },
        { type: 'bookmark' },
      ],
      left: { type: 'participant_left', participant: { username: 'ann', leave_reason: 'kicked' } },
    },
  },
];

/** A method that changes a participant, and what is then different. */
function moderation(
  name: string,
  request: object,
  participant: object,
  prepare?: (house: House) => unknown,
): Step {
  return {
    name: `moderation.${name}`,
    run: async (at) => {
      const house = await withAnn(at);
      await prepare?.(house);
      return await house.client.call(`moderation.${name}`, { ...ann, reason: 'noise', ...request });
    },
    expect: {
      ok: {
        participant: { username: 'ann', ...participant },
        event: {
          id: '<id>',
          action: name,
          room: 'lobby',
          room_uid: '<room_uid>',
          username: 'ann',
          reason: 'noise',
          key_id: '<key_id>',
          time: '<time>',
        },
      },
    },
  };
}

const AUDIO = { tracks: ['audio', 'screen'] };
const tracks = ['audio', 'screen'] as const;

const MODERATION: Step[] = [
  moderation('kick', {}, { state: 'left', leave_reason: 'kicked' }),
  moderation('force_mute', AUDIO, { muted: ['audio', 'screen'] }),
  moderation('release_mute', AUDIO, { muted: undefined }, ({ direct }) =>
    direct.moderation.forceMute({ ...ann, tracks }),
  ),
  moderation('revoke_publish', AUDIO, { publish_revoked: ['audio', 'screen'] }),
  moderation('restore_publish', AUDIO, { publish_revoked: undefined }, ({ direct }) =>
    direct.moderation.revokePublish({ ...ann, tracks }),
  ),
  {
    name: 'moderation.ban',
    run: async (at) => {
      const { client } = await withAnn(at);
      const ban = (request: object) => client.call('moderation.ban', request);
      return [
        await ban({ ...ann, ttl: 3600.5, reason: 'noise' }),
        await ban({ room: 'lobby', device_thumbprint: thumbprintOf('bob') }),
        await ban({ cidr: '2001:db8::/48' }),
      ];
    },
    expect: [
      {
        ok: {
          ban: { id: '<id>', room: 'lobby', username: 'ann', expire_time: '<expire_time>', rank: 100 },
          event: { action: 'ban', username: 'ann', reason: 'noise' },
        },
      },
      { ok: { ban: { device_thumbprint: thumbprintOf('bob'), expire_time: undefined } } },
      { ok: { ban: { cidr: '2001:db8::/48', room: undefined, room_uid: undefined } } },
    ],
  },
  {
    name: 'moderation.unban',
    run: async (at) => {
      const { client, direct } = await withAnn(at);
      await direct.moderation.ban({ username: 'ann' });
      return await client.call('moderation.unban', { username: 'ann' });
    },
    expect: { ok: { ban: { username: 'ann' }, event: { action: 'unban', username: 'ann' } } },
  },
  {
    name: 'moderation.list_bans',
    run: async (at) => {
      const { client, direct } = await withAnn(at);
      for (const username of ['ann', 'bob', 'eve']) await direct.moderation.ban({ room: 'lobby', username });
      return [
        await client.list('moderation.list_bans', { room: 'lobby', page_size: 2 }),
        await client.list('moderation.list_bans', { username: 'bob', room: 'lobby' }),
      ];
    },
    expect: [
      { ok: [{ username: 'eve' }, { username: 'bob' }, { username: 'ann' }] },
      { ok: [{ username: 'bob' }] },
    ],
  },
  {
    name: 'moderation.close_room',
    run: async (at) => {
      const { client } = await withAnn(at);
      return await client.call('moderation.close_room', { room: 'lobby', reason: 'late' });
    },
    expect: {
      ok: {
        room: { name: 'lobby', state: 'ended', end_reason: 'closed' },
        event: { action: 'close_room', reason: 'late' },
      },
    },
  },
  {
    name: 'moderation.list_events',
    run: async (at) => {
      const { client, direct } = await withAnn(at);
      await direct.moderation.forceMute({ ...ann, tracks });
      await direct.moderation.kick(ann);
      return await client.list('moderation.list_events', { room: 'lobby', username: 'ann', page_size: 1 });
    },
    expect: { ok: [{ action: 'kick' }, { action: 'force_mute', tracks: ['audio', 'screen'] }] },
  },
];

const TOKENS: Step[] = [
  {
    name: 'tokens.mint',
    run: async (at) => {
      const { client } = await at.house({ rooms: ['lobby'] });
      return await client.call('tokens.mint', {
        room: 'lobby',
        username: 'Ann',
        device_thumbprint: thumbprintOf('ann'),
        role: 'host',
        capabilities: ['chat.send', 'publish.audio'],
        rank: 50,
        lifetime: 300,
        age_verified: true,
        client_address: '192.0.2.7',
      });
    },
    expect: {
      ok: {
        token: '<token>',
        expire_time: '<expire_time>',
        room: 'lobby',
        username: 'ann',
        key_id: '<key_id>',
        device_thumbprint: thumbprintOf('ann'),
        room_uid: '<room_uid>',
        withheld_capabilities: undefined,
      },
    },
  },
  {
    name: 'device_credentials.create',
    run: async (at) => {
      const { client } = await at.house();
      return await client.call('device_credentials.create', {
        name: 'kiosk',
        publish: ['audio', 'video'],
        rooms: ['demo-*'],
        default_room: 'demo-1',
        expire_time: '2099-12-31T23:59:59.5Z',
      });
    },
    expect: {
      ok: {
        device_credential: {
          id: '<id>',
          name: 'kiosk',
          publish: ['audio', 'video'],
          rooms: ['demo-*'],
          default_room: 'demo-1',
          expire_time: '<expire_time>',
          create_time: '<create_time>',
        },
        credential: '<credential>',
      },
    },
  },
  {
    name: 'device_credentials.list',
    run: async (at) => {
      const { client, direct } = await at.house();
      for (const name of ['one', 'two', 'three'])
        await direct.deviceCredentials.create({ name, publish: [] });
      return await client.list('device_credentials.list', { page_size: 2 });
    },
    expect: { ok: [{ name: 'one' }, { name: 'two' }, { name: 'three' }] },
  },
  {
    name: 'device_credentials.rotate',
    run: async (at) => {
      const { client, direct } = await at.house();
      const { deviceCredential } = await direct.deviceCredentials.create({
        name: 'kiosk',
        publish: ['data'],
      });
      return await client.call('device_credentials.rotate', { id: deviceCredential.id, overlap: 60 });
    },
    expect: {
      ok: {
        device_credential: { id: '<id>', name: 'kiosk', publish: ['data'] },
        credential: '<credential>',
        old_credential_retire_time: '<old_credential_retire_time>',
      },
    },
  },
  {
    name: 'device_credentials.revoke',
    run: async (at) => {
      const { client, direct } = await at.house();
      const { deviceCredential } = await direct.deviceCredentials.create({ name: 'kiosk', publish: [] });
      return await client.call('device_credentials.revoke', { id: deviceCredential.id });
    },
    expect: { ok: { id: '<id>', name: 'kiosk', revoke_time: '<revoke_time>' } },
  },
];

const armed = { room: 'lobby', emptyForSeconds: 600, action: 'end_room' } as const;

const WATCHDOGS: Step[] = [
  {
    name: 'watchdogs.create',
    run: async (at) => {
      const { client } = await at.house({ rooms: ['lobby'] });
      const conditions = {
        max_duration: 3600,
        unused_for: 60,
        empty_for: 600.25,
        host_absent_for: 60,
        alone_for: 60,
        unadmitted_for: 60,
      };
      const outcomes = [];
      for (const [condition, seconds] of Object.entries(conditions)) {
        const request = { room: 'lobby', [condition]: seconds, action: 'notify', warn_before: 1.5 };
        outcomes.push(await client.call('watchdogs.create', request));
      }
      const each = { room: 'lobby', participant_max_duration: 60, action: 'kick' };
      return [...outcomes, await client.call('watchdogs.create', each)];
    },
    expect: [
      {
        ok: {
          id: '<id>',
          room: 'lobby',
          max_duration: 3600,
          action: 'notify',
          state: 'armed',
          warn_before: 1.5,
        },
      },
      { ok: { unused_for: 60 } },
      { ok: { empty_for: 600.25, max_duration: undefined } },
      { ok: { host_absent_for: 60 } },
      { ok: { alone_for: 60 } },
      { ok: { unadmitted_for: 60 } },
      { ok: { participant_max_duration: 60, action: 'kick', warn_before: undefined } },
    ],
  },
  {
    name: 'watchdogs.get',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const { id } = await direct.watchdogs.create(armed);
      return await client.call('watchdogs.get', { id });
    },
    expect: {
      ok: { id: '<id>', room: 'lobby', empty_for: 600, action: 'end_room', create_time: '<create_time>' },
    },
  },
  {
    name: 'watchdogs.list',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby', 'other'] });
      await direct.watchdogs.create(armed);
      await direct.watchdogs.create({ ...armed, room: 'other' });
      return [
        await client.list('watchdogs.list', { room: 'lobby' }),
        await client.list('watchdogs.list', { page_size: 1 }),
      ];
    },
    expect: [{ ok: [{ room: 'lobby' }] }, { ok: [{ room: 'other' }, { room: 'lobby' }] }],
  },
  {
    name: 'watchdogs.update',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const { id } = await direct.watchdogs.create(armed);
      return [
        await client.call('watchdogs.update', { id, empty_for: 900, warn_before: 60 }),
        await client.call('watchdogs.update', { id, action: 'notify' }),
        await client.call('watchdogs.update', { id, warn_before: 0 }),
      ];
    },
    expect: [
      { ok: { empty_for: 900, warn_before: 60, action: 'end_room' } },
      { ok: { empty_for: 900, warn_before: 60, action: 'notify' } },
      { ok: { empty_for: 900, warn_before: undefined } },
    ],
  },
  {
    name: 'watchdogs.delete',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const { id } = await direct.watchdogs.create(armed);
      return [
        await client.call('watchdogs.delete', { id }),
        await client.list('watchdogs.list', { room: 'lobby' }),
      ];
    },
    // An empty answer and an empty list are left out.
    expect: [{ ok: undefined, error: undefined }, { error: undefined }],
  },
];

const REST: Step[] = [
  {
    name: 'sign_up',
    isAlone: true,
    run: async (at) => {
      await at.world.forgetSignups();
      const client = await at.client({});
      const signUp = (name: string) => client.call('sign_up', { email: 'ada@example.com', name });
      const first = await signUp('Ada Video');
      for (const name of ['2', '3', '4', '5']) await signUp(name);
      const beyond = await signUp('6');
      await at.world.forgetSignups();
      const other = await at.client({ api_key: first.ok?.api_key ?? 'svc_none' });
      return { first, beyond, billing: await other.call('billing.get') };
    },
    expect: {
      first: {
        ok: {
          tenant: '<tenant>',
          status: 'pending',
          api_key: '<api_key>',
          key_id: '<key_id>',
          checkout_url: '<checkout_url>',
          note: /shown this once/,
        },
      },
      beyond: {
        error: { kind: 'RateLimited', code: 429, has_request_id: true, retry_after_ms: '<retry_after_ms>' },
      },
      billing: { ok: { tenant: { name: 'Ada Video', email: 'ada@example.com', status: 'pending' } } },
    },
  },
  {
    name: 'rates.get',
    run: async (at) => (await at.house()).client.call('rates.get'),
    expect: {
      ok: {
        currency: 'usd',
        model: /./,
        markup_basis_points: 1500,
        platform_fee_per_gib: { display: /^\$\d+\.\d{6}$/ },
        ceiling_per_1000_participant_minutes: {
          host: { full_hd: { display: /^\$/ } },
          broadcast_audience: { '2k_plus': { display: /^\$/ } },
        },
      },
    },
  },
  {
    name: 'billing.get',
    run: async (at) => {
      // Without `tenant`, so that the client looks it up.
      const { key } = await at.world.newTenant();
      const client = await at.client({ api_key: key });
      return [await client.call('billing.get'), await client.call('rooms.create', { room: 'lobby' })];
    },
    expect: [
      {
        ok: {
          tenant: {
            id: '<id>',
            name: 'Ada Video',
            email: 'ada@example.com',
            status: 'active',
            has_card: undefined,
            created_at: '<created_at>',
          },
          balance: { micros: 20_000_000, display: '$20.000000' },
          admitted: true,
          recent: [{ kind: 'adjustment', amount: { micros: 20_000_000 }, detail: 'a gift', at: '<at>' }],
        },
      },
      { ok: { name: 'lobby' } },
    ],
  },
  {
    name: 'billing.checkout',
    run: async (at) => (await at.house()).client.call('billing.checkout', { amount_cents: 1000 }),
    expect: { ok: { checkout_url: '<checkout_url>' } },
  },
  {
    name: 'billing.portal',
    run: async (at) => (await withCard(at)).client.call('billing.portal'),
    expect: { ok: { portal_url: '<portal_url>' } },
  },
  {
    name: 'billing.set_auto_top_up',
    run: async (at) => {
      const { client } = await withCard(at);
      const rule = { enabled: true, below_cents: 500, amount_cents: 2000 };
      return [
        await client.call('billing.set_auto_top_up', rule),
        await client.call('billing.set_auto_top_up', { enabled: false }),
      ];
    },
    expect: [
      {
        ok: {
          has_card: true,
          auto_top_up: {
            enabled: true,
            below: { micros: 5_000_000, display: '$5.000000' },
            amount: { micros: 20_000_000 },
          },
        },
      },
      { ok: { auto_top_up: { enabled: undefined } } },
    ],
  },
  {
    name: 'keys.list',
    run: async (at) => (await at.house()).client.call('keys.list'),
    expect: {
      ok: [
        { id: '<id>', name: 'backend', kind: 'backend', created_at: '<created_at>', revoked_at: undefined },
        { kind: 'relay' },
      ],
    },
  },
  {
    name: 'keys.create',
    run: async (at) => {
      const { client } = await at.house();
      return [
        await client.call('keys.create', { name: 'second' }),
        await client.call('keys.create', { name: 'third', kind: 'relay' }),
      ];
    },
    expect: [
      { ok: { key: { id: '<id>', name: 'second', kind: 'backend' }, api_key: '<api_key>' } },
      { ok: { key: { name: 'third', kind: 'relay' } } },
    ],
  },
  {
    name: 'keys.rotate',
    run: async (at) => {
      const { client, direct } = await at.house();
      const { key } = await direct.keys.create({ name: 'second' });
      return await client.call('keys.rotate', { id: key.id, overlap_seconds: 60 });
    },
    expect: {
      ok: { key: { name: 'second' }, api_key: '<api_key>', old_key_retires: '<old_key_retires>' },
    },
  },
  {
    name: 'keys.revoke',
    run: async (at) => {
      const { client, direct } = await at.house();
      const relay = (await direct.keys.list()).find(({ kind }) => kind === 'relay')!;
      const refused = await client.call('keys.revoke', { id: relay.id });
      const revoked = await client.call('keys.revoke', { id: relay.id, confirm: 'stop-service' });
      const listed = (await direct.keys.list()).find(({ kind }) => kind === 'relay')!;
      return { refused, revoked, isRevoked: listed.revokedAt !== undefined };
    },
    expect: {
      refused: { error: { kind: 'Precondition', code: 409, reason: 'WOULD_STOP_SERVICE' } },
      revoked: undefined,
      isRevoked: true,
    },
  },
  {
    name: 'usage.report',
    run: async (at) => {
      const { relayKey, direct } = await at.house();
      const client = await at.client({ api_key: relayKey });
      const records = [
        { ...RECORD, id: 'r1', room: 'lobby', participant: 'ann' },
        { ...RECORD, id: 'r2', tier: '2k_plus' },
      ];
      const first = await client.call('usage.report', { records });
      const again = await client.call('usage.report', { records });
      const nothing = await client.call('usage.report', { records: [] });
      const { balance } = await direct.billing.get();
      return { first, again, nothing, left: Number(balance.micros) + first.ok?.total.micros };
    },
    expect: {
      first: {
        ok: { charged: 2, duplicates: undefined, admitted: true, total: { display: /^\$0\.\d{6}$/ } },
      },
      again: { ok: { charged: undefined, duplicates: 2 } },
      nothing: { ok: { admitted: true } },
      left: 20_000_000,
    },
  },
];

export const METHODS: readonly Step[] = [
  ...ROOMS,
  ...PARTICIPANTS,
  ...MODERATION,
  ...TOKENS,
  ...WATCHDOGS,
  ...REST,
];

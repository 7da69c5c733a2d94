/** Every reason and code of a refusal: by the real service where it can be brought to it, else by a script. */
import { createServer } from 'node:http';
import { status } from '@grpc/grpc-js';
import { readTable } from '../../../scripts/error-table.ts';
import { changeReferenceTable } from '../../../test/support/reference-tables.ts';
import type { Json, Outcome } from '../driver.ts';
import { Refusal, startScriptedControl } from '../scripted-control.ts';
import type { At, House, Step } from '../step.ts';
import type { TenantOptions } from '../world.ts';
import { actor, thumbprintOf } from './devices.ts';

const ERRORS = readTable();

const device = { device_thumbprint: thumbprintOf('ann') };
const lobby = { room: 'lobby' };
const mint = { ...lobby, username: 'ann', ...device };
const gone = `${'0'.repeat(15)}1`;

/** A call that the real service refuses. */
interface RefusedCall {
  readonly kind: string;
  readonly code: string | number;
  readonly reason: string;
  readonly method: string;
  readonly with?: TenantOptions;
  readonly fields?: readonly string[];
  readonly metadata?: object;
  /** Brings the service to it. Returns what it found out for `request`. */
  prepare?(house: House, at: At): Promise<string | undefined>;
  request?(found: string): object;
}

/** People with tokens for the room: their ranks, and what they may do. */
async function admit(house: House, people: Readonly<Record<string, readonly string[]>>): Promise<undefined> {
  await house.direct.rooms.create(lobby);
  for (const [username, capabilities] of Object.entries(people)) {
    const deviceThumbprint = thumbprintOf(username);
    await house.direct.tokens.mint({ ...lobby, username, deviceThumbprint, capabilities, rank: 60 });
  }
}

async function makeCredential({ direct }: House): Promise<string> {
  const { deviceCredential } = await direct.deviceCredentials.create({ name: 'kiosk', publish: [] });
  return deviceCredential.id;
}

async function makeRoom({ direct }: House, policy: object = {}): Promise<undefined> {
  await direct.rooms.create({ ...lobby, policy });
}

const REFUSED: readonly RefusedCall[] = [
  {
    ...{ kind: 'Invalid', code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' },
    method: 'rooms.create',
    fields: ['room'],
    request: () => ({ room: 'no spaces' }),
  },
  {
    ...{ kind: 'Invalid', code: 'INVALID_ARGUMENT', reason: 'IMMUTABLE_FIELD' },
    method: 'rooms.update_policy',
    fields: ['policy.region'],
    prepare: (house) => makeRoom(house),
    request: () => ({ ...lobby, policy: { region: 'x' } }),
  },
  {
    ...{ kind: 'Invalid', code: 'INVALID_ARGUMENT', reason: 'USERNAME_CONFUSABLE' },
    method: 'tokens.mint',
    fields: ['username'],
    prepare: (house) => admit(house, { ann: ['chat.send'] }),
    request: () => ({ ...mint, username: '\u0430nn' }),
  },
  {
    ...{ kind: 'NotFound', code: 'NOT_FOUND', reason: 'NOT_FOUND' },
    method: 'rooms.get',
    request: () => lobby,
  },
  {
    ...{ kind: 'Exists', code: 'ALREADY_EXISTS', reason: 'ROOM_EXISTS' },
    method: 'rooms.create',
    prepare: (house) => makeRoom(house),
    request: () => lobby,
  },
  {
    ...{ kind: 'Exists', code: 'ALREADY_EXISTS', reason: 'WATCHDOG_EXISTS' },
    method: 'watchdogs.create',
    prepare: async (house) => {
      await makeRoom(house);
      await house.direct.watchdogs.create({ ...lobby, emptyForSeconds: 60, action: 'notify' });
      return undefined;
    },
    request: () => ({ ...lobby, empty_for: 90, action: 'notify' }),
  },
  {
    ...{ kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'CAPABILITY_REQUIRED' },
    method: 'rooms.end',
    metadata: { capability: 'room.end' },
    prepare: (house) => admit(house, { weak: ['chat.send'] }),
    request: () => ({ ...lobby, actor: actor('weak') }),
  },
  {
    ...{ kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'INSUFFICIENT_STANDING' },
    method: 'moderation.kick',
    prepare: (house) => admit(house, { mod: ['moderate.kick'], peer: ['chat.send'] }),
    request: () => ({ ...lobby, username: 'peer', actor: actor('mod') }),
  },
  {
    ...{ kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'CEILING_EXCEEDED' },
    method: 'tokens.mint',
    metadata: { excess: 'rank 99' },
    prepare: (house) => makeRoom(house),
    request: () => ({ ...mint, rank: 99 }),
  },
  {
    ...{ kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'BANNED' },
    method: 'tokens.mint',
    prepare: async (house) => {
      await makeRoom(house);
      await house.direct.moderation.ban({ username: 'ann' });
      return undefined;
    },
    request: () => mint,
  },
  {
    ...{ kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'TENANT_NOT_ACTIVE' },
    method: 'tokens.mint',
    with: { status: 'suspended' },
    prepare: (house) => makeRoom(house),
    request: () => mint,
  },
  {
    ...{ kind: 'Closed', code: 'FAILED_PRECONDITION', reason: 'ROOM_ENDED' },
    method: 'rooms.update_policy',
    prepare: async (house) => {
      await makeRoom(house);
      await house.direct.rooms.end(lobby);
      return undefined;
    },
    request: () => ({ ...lobby, policy: { locked: true } }),
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'AGE_VERIFICATION_REQUIRED' },
    method: 'tokens.mint',
    prepare: (house) => makeRoom(house, { ageVerificationRequired: true }),
    request: () => mint,
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'ROOM_LOCKED' },
    method: 'tokens.mint',
    prepare: (house) => makeRoom(house, { locked: true }),
    request: () => mint,
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'ROOM_FULL' },
    method: 'tokens.mint',
    prepare: async (house) => {
      await makeRoom(house, { maxParticipants: 1 });
      const deviceThumbprint = thumbprintOf('bob');
      await house.direct.tokens.mint({ ...lobby, username: 'bob', deviceThumbprint });
      return undefined;
    },
    request: () => mint,
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'NO_CREDIT' },
    method: 'tokens.mint',
    with: { credit: false },
    prepare: (house) => makeRoom(house),
    request: () => mint,
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'QUOTA_EXCEEDED' },
    method: 'rooms.create',
    metadata: { limit: 'rooms', max: '1' },
    with: { limits: { rooms: 1 } },
    prepare: (house) => makeRoom(house),
    request: () => ({ room: 'another' }),
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'TOO_MANY_BANS' },
    method: 'moderation.ban',
    prepare: async ({ tenant }, at) => {
      await at.world.db.query(
        `insert into bans (tenant_id, id, kind, value, network, rank)
         select $1, 'ban_' || lpad(to_hex(i), 32, '0'), 'cidr', network::text, network, 100
           from generate_series(1, 1000) i, cast('10.' || i / 256 || '.' || i % 256 || '.0/24' as cidr) network`,
        [tenant],
      );
      return undefined;
    },
    request: () => ({ cidr: '198.51.100.0/24' }),
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'WATCHDOG_OVER' },
    method: 'watchdogs.update',
    prepare: async (house, at) => {
      await makeRoom(house);
      const armed = { ...lobby, emptyForSeconds: 60, action: 'notify' } as const;
      const { id } = await house.direct.watchdogs.create(armed);
      const fired = `update watchdogs set state = 'fired', check_at = null, fired_at = now() where id = $1`;
      await at.world.db.query(fired, [id]);
      return id;
    },
    request: (id) => ({ id, action: 'notify' }),
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'ALREADY_REVOKED' },
    method: 'device_credentials.rotate',
    prepare: async (house) => {
      const id = await makeCredential(house);
      await house.direct.deviceCredentials.revoke({ id });
      return id;
    },
    request: (id) => ({ id }),
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'ALREADY_ROTATED' },
    method: 'device_credentials.rotate',
    prepare: async (house) => {
      const id = await makeCredential(house);
      await house.direct.deviceCredentials.rotate({ id });
      return id;
    },
    request: (id) => ({ id }),
  },
  {
    ...{ kind: 'Precondition', code: 'FAILED_PRECONDITION', reason: 'ALREADY_EXPIRED' },
    method: 'device_credentials.rotate',
    prepare: async (house, at) => {
      const id = await makeCredential(house);
      const expired = `update device_credentials set expires_at = now() - interval '1 s' where id = $1`;
      await changeReferenceTable(at.world.db, expired, [id]);
      return id;
    },
    request: (id) => ({ id }),
  },
  {
    ...{ kind: 'Unavailable', code: 'UNAVAILABLE', reason: 'TOO_MANY_REQUESTS' },
    method: 'rooms.get',
    metadata: { limit: 'key_requests_per_minute', max: '1' },
    with: { limits: { key_requests_per_minute: 1 } },
    // The next call is beyond the limit, unless a minute of the service ends in between: so nothing else is prepared.
    prepare: (house) => makeRoom(house),
    request: () => lobby,
  },
  {
    ...{ kind: 'Invalid', code: 400, reason: '' },
    method: 'keys.create',
    request: () => ({ name: '' }),
    fields: ['name'],
  },
  {
    ...{ kind: 'Denied', code: 403, reason: '' },
    method: 'billing.get',
    with: { status: 'suspended' },
  },
  {
    ...{ kind: 'NotFound', code: 404, reason: '' },
    method: 'keys.revoke',
    request: () => ({ id: gone }),
  },
  {
    ...{ kind: 'Precondition', code: 409, reason: 'WOULD_STOP_SERVICE' },
    method: 'keys.revoke',
    prepare: async ({ direct }) => (await direct.keys.list()).find(({ kind }) => kind === 'relay')!.id,
    request: (id) => ({ id }),
  },
];

/** Names of reasons that the real service gives for several codes are told with the code. */
function refusedStep(refused: RefusedCall): Step {
  const { kind, code, reason, method, fields, metadata } = refused;
  return {
    name: `refused: ${reason || code} (${method})`,
    run: async (at) => {
      const house = await at.house({ retries: 0, ...(refused.with && { with: refused.with }) });
      const found = (await refused.prepare?.(house, at)) ?? '';
      return await house.client.call(method, refused.request?.(found) ?? {});
    },
    expect: {
      error: {
        kind,
        code,
        reason: reason || undefined,
        has_request_id: true,
        message: /./,
        fields: fields ?? undefined,
        ...(metadata && { metadata }),
      },
    },
  };
}

const KEYS: Step[] = [
  {
    name: 'refused: a wrong key, a relay key, and another tenant',
    run: async (at) => {
      const { id, key, relayKey } = await at.world.newTenant();
      const other = await at.world.newTenant();
      const wrong = `${key.slice(0, -4)}AAAA`;
      const ask = async (options: object, method = 'rooms.get', request: object = lobby) =>
        (await at.client({ retries: 0, ...options } as never)).call(method, request);
      return {
        wrong: await ask({ api_key: wrong, tenant: id }),
        wrongWithoutTenant: await ask({ api_key: wrong }),
        wrongOverRest: await ask({ api_key: wrong }, 'billing.get', {}),
        relay: await ask({ api_key: relayKey, tenant: id }),
        relayWithoutTenant: await ask({ api_key: relayKey }),
        backendAsRelay: await ask({ api_key: key }, 'usage.report', { records: [] }),
        otherTenant: await ask({ api_key: key, tenant: other.id }),
      };
    },
    expect: {
      wrong: { error: { kind: 'Unauthenticated', code: 'UNAUTHENTICATED', reason: 'INVALID_API_KEY' } },
      wrongWithoutTenant: {
        error: { kind: 'Unauthenticated', code: 'UNAUTHENTICATED', reason: 'INVALID_API_KEY' },
      },
      wrongOverRest: { error: { kind: 'Unauthenticated', code: 401, message: 'invalid api key' } },
      relay: { error: { kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'RELAY_KEY' } },
      relayWithoutTenant: { error: { kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'RELAY_KEY' } },
      backendAsRelay: { error: { kind: 'Unauthenticated', code: 401 } },
      otherTenant: { error: { kind: 'Denied', code: 'PERMISSION_DENIED', reason: 'OTHER_TENANT' } },
    },
  },
  {
    name: 'refused: IDEMPOTENCY_KEY_REUSED (rooms.create)',
    run: async (at) => {
      const { client } = await at.house();
      const options = { idempotency_key: 'order 7' };
      return [
        await client.call('rooms.create', lobby, options),
        await client.call('rooms.create', { room: 'another' }, options),
      ];
    },
    expect: [
      { ok: { name: 'lobby' } },
      { error: { kind: 'Invalid', reason: 'IDEMPOTENCY_KEY_REUSED', fields: ['idempotency_key'] } },
    ],
  },
];

/** Every reason of the table of errors, with its code. */
const REASON_NAMES = [
  ...new Set(
    [...ERRORS.native, ...ERRORS.anytime, ...ERRORS.conditions].flatMap(({ code, reason }) =>
      reason === undefined ? [] : [`${code}:${reason}`],
    ),
  ),
];
const CODE_NAMES = Object.keys(status).filter((name) => Number.isNaN(Number(name)) && name !== 'OK');

function kindOf(code: string, reason?: string): string {
  const found = ERRORS.kinds.find((each) => each.code === code && (each.reason ?? reason) === reason);
  // Without a row of its own, a failure is a bug.
  return found?.kind ?? 'Internal';
}

/** Calls a control plane that refuses each room as its name says: `CODE`, or `CODE:REASON`. */
async function askScript(at: At, names: readonly string[]): Promise<Record<string, Outcome>> {
  const control = await startScriptedControl(({ request: { room } }) => {
    const [code, reason] = room.split(':') as [keyof typeof status, string | undefined];
    throw new Refusal(code, reason === undefined ? { details: 'why' } : { reason, retryDelayMs: 1500 });
  });
  at.onEnd(control.close);
  const { client } = await at.house({ control_url: control.url, retries: 0 });
  const outcomes: Record<string, Outcome> = {};
  for (const room of names) outcomes[room] = await client.call('rooms.get', { room });
  return outcomes;
}

/** The same object with each value made from its name. */
function byName(names: readonly string[], make: (name: string) => Json): Record<string, Json> {
  return Object.fromEntries(names.map((name) => [name, make(name)]));
}

/** Answers each request with the status in its query; `rates.get` has none, so the path is the status. */
async function askStatuses(at: At, statuses: readonly number[], method: string): Promise<Json> {
  const seen: string[] = [];
  let code = 0;
  const server = createServer((request, response) => {
    seen.push(request.method ?? '');
    request.resume();
    response.writeHead(code, {
      'content-type': 'application/json',
      'x-request-id': 'req_1',
      'retry-after': '7',
    });
    response.end(JSON.stringify({ error: `status ${code}` }));
  });
  const url = `http://${await at.listen(server)}`;
  const client = await at.client({ url, api_key: `svc_${gone}_x`, tenant: 't', retries: 0 });
  const outcomes: Record<string, Outcome> = {};
  for (code of statuses) outcomes[code] = await client.call(method, { name: 'x' });
  return { outcomes, requests: seen.length };
}

const STATUSES = [...ERRORS.statuses.map(({ status: each }) => each), 302, 418];

function kindOfStatus(code: number): string {
  return ERRORS.statuses.find((each) => each.status === code)?.kind ?? 'Internal';
}

const SCRIPTED: Step[] = [
  {
    name: 'refused: every reason of the table',
    against: 'a script',
    run: (at) => askScript(at, REASON_NAMES),
    expect: byName(REASON_NAMES, (name) => {
      const [code = '', reason] = name.split(':');
      return {
        error: {
          kind: kindOf(code, reason),
          code,
          reason,
          metadata: { excess: 'room.end', request_id: undefined },
          retry_after_ms: '<retry_after_ms>',
          has_request_id: true,
          message: `refused: ${reason}`,
        },
      };
    }),
  },
  {
    name: 'refused: every code of gRPC without details',
    against: 'a script',
    run: (at) => askScript(at, CODE_NAMES),
    expect: byName(CODE_NAMES, (code) => ({
      error: { kind: kindOf(code), code, reason: undefined, retry_after_ms: undefined },
    })),
  },
  {
    name: 'refused: reasons that are not in the table, or with another code',
    against: 'a script',
    run: (at) => askScript(at, ['NOT_FOUND:NEWER', 'FAILED_PRECONDITION:NEWER', 'UNAVAILABLE:ROOM_ENDED']),
    expect: {
      'NOT_FOUND:NEWER': { error: { kind: 'NotFound', reason: 'NEWER' } },
      'FAILED_PRECONDITION:NEWER': { error: { kind: 'Precondition', reason: 'NEWER' } },
      'UNAVAILABLE:ROOM_ENDED': { error: { kind: 'Unavailable', reason: 'ROOM_ENDED' } },
    },
  },
  {
    name: 'refused: the request id is in the details, if a proxy dropped its trailer',
    against: 'a script',
    run: async (at) => {
      const control = await startScriptedControl(() => {
        throw new Refusal('INTERNAL', { reason: 'INTERNAL', hasTrailer: false });
      });
      at.onEnd(control.close);
      const { client } = await at.house({ control_url: control.url, retries: 0 });
      return await client.call('rooms.get', lobby);
    },
    expect: {
      error: {
        kind: 'Internal',
        has_request_id: true,
        metadata: { excess: 'room.end', request_id: undefined },
      },
    },
  },
  {
    name: 'refused: every status of REST',
    against: 'a script',
    run: (at) => askStatuses(at, STATUSES, 'keys.create'),
    expect: {
      outcomes: byName(STATUSES.map(String), (code) => ({
        error: {
          kind: kindOfStatus(Number(code)),
          code: Number(code),
          reason: code === '402' ? 'NO_CREDIT' : undefined,
          retry_after_ms: '<retry_after_ms>',
          has_request_id: true,
          message: `status ${code}`,
        },
      })),
      requests: STATUSES.length,
    },
  },
];

export const REFUSALS: readonly Step[] = [...REFUSED.map(refusedStep), ...KEYS, ...SCRIPTED];

/** `GET /v1/sessions`, `GET /v1/sessions/{id}`, `GET /v1/rooms/{uid}/cost`, and sums of sessions by `GET /v1/usage/summary`. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { renderPageToken } from '../../../src/base/lib/page-token.ts';
import { deviceOf, mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { assignAll } from '../../control/sessions/support.ts';
import { useControl } from '../../support/grpc.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { report } from './ledger-routes.ts';
import { expectError, expectOk } from './support.ts';

const app = useService();
const controlOf = useControl(app);
let stage: Stage;

const get = async (path: string, of = stage) =>
  expectOk(await app.request('GET', path, { key: of.tenant.key }));

interface Row {
  readonly participant?: string;
  readonly records: number;
  readonly total: { readonly micros: number };
}

const record = (participant: string | undefined, fields: object) =>
  usageRecord({ room: 'lobby', participant, seconds: 0, ...fields });

beforeAll(async () => {
  stage = await newStage(app, controlOf);
  await mint(stage, 'ann', { role: 'host', customer: 'acme' });
  for (const name of ['bob', 'cem', 'dan']) await mint(stage, name);
  await report(app, stage.tenant, [
    record('ann', { id: 'a1', role: 'host', tier: 'hd', seconds: 60, egress_bytes: 3_000_000_000 }),
    record('ann', { id: 'a2', role: 'host', tier: 'full_hd', egress_bytes: 0 }),
    record('bob', { id: 'b1', tier: 'audio', egress_bytes: 5_000_000 }),
    record('Dan', { id: 'd1', tier: 'audio', egress_bytes: 0 }),
    record(undefined, { id: 'x1', tier: 'audio', egress_bytes: 7_000_000 }),
  ]);
  await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'bob' });
  await assignAll(app.service.deps.db, idOf(stage.tenant));
  await vi.waitFor(async () => {
    expect((await get('/v1/sessions?participant=bob')).sessions[0].leave_reason).toBe('kicked');
  }, 60_000);
});

describe('the list', () => {
  const namesOf = async (query: string) =>
    (await get(`/v1/sessions${query}`)).sessions.map((each: { participant: string }) => each.participant);

  test('has the sessions, those that began last first', async () => {
    expect(await namesOf('')).toEqual(['dan', 'cem', 'bob', 'ann']);
  });

  test.each([
    ['?room=lobby&participant=cem', ['cem']],
    ['?room=hall', []],
    ['?participant=bob', ['bob']],
    ['?participant=Bob', ['bob']],
    ['?key=0000000000000000', []],
    ['?customer=acme', ['ann']],
    ['?customer=acme&room=lobby', ['ann']],
    ['?customer=acme&participant=bob', []],
    ['?from=2999-01-01', []],
    ['?to=2000-01-01', []],
    ['?from=2000-01-01&to=2999-01-01', ['dan', 'cem', 'bob', 'ann']],
  ])('%s', async (query, names) => {
    expect(await namesOf(query)).toEqual(names);
  });

  test('of a key has the sessions that it admitted', async () => {
    expect(await namesOf(`?key=${stage.tenant.keyId}`)).toEqual(['dan', 'cem', 'bob', 'ann']);
    expect(await namesOf(`?key=${stage.tenant.keyId}&room=hall`)).toEqual([]);
  });

  test.each(['xyz', 'svc_0123456789abcdef', '0123456789ABCDEF'])(
    'of what is no key is refused: %s',
    async (key) => {
      const answer = await app.request('GET', `/v1/sessions?key=${key}`, { key: stage.tenant.key });
      expectError(answer, 400, 'invalid request: key must be 16 hex characters');
    },
  );

  test('has pages, none of which repeats a session', async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await get(`/v1/sessions?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      names.push(...page.sessions.map((each: { participant: string }) => each.participant));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(names).toEqual(['dan', 'cem', 'bob', 'ann']);
  });

  test('refuses the cursor of another tenant', async () => {
    const { next_cursor: cursor } = await get('/v1/sessions?limit=1');
    const other = await newStage(app, controlOf);
    const answer = await app.request('GET', `/v1/sessions?cursor=${cursor}`, { key: other.tenant.key });
    expect(answer.status).toBe(400);
    expect((await get('/v1/sessions', other)).sessions).toEqual([]);
  });

  test('is a stream, as CSV and as NDJSON', async () => {
    const read = async (accept: string) =>
      (await app.request('GET', '/v1/sessions', { key: stage.tenant.key, headers: { accept } })).text;
    const csv = (await read('text/csv')).trim().split('\r\n');
    expect(csv[0]).toMatch(/^entered_at,left_at,leave_reason,id,room,room_uid,participant,/);
    expect(csv).toHaveLength(5);
    const lines = (await read('application/x-ndjson')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).participant)).toEqual(['dan', 'cem', 'bob', 'ann']);
    expect(JSON.parse(lines[3]!)).toMatchObject({ records: 2, egress_bytes: 3_000_000_000 });
  });
});

describe('one session', () => {
  test('has its participant, its devices, its sums and its records', async () => {
    const [{ id }] = (await get('/v1/sessions?participant=ann')).sessions;
    const { session, records, assigned_until: until } = await get(`/v1/sessions/${id}`);
    const total = records.reduce(
      (sum: number, each: { total: { micros: number } }) => sum + each.total.micros,
      0,
    );
    expect(session).toMatchObject({
      id,
      room: 'lobby',
      room_uid: stage.roomUid,
      participant: 'ann',
      role: 'host',
      key_id: stage.tenant.keyId,
      devices: [deviceOf('ann')],
      records: 2,
      seconds: 60,
      seconds_by_tier: { audio: 0, hd: 60, full_hd: 0, '2k': 0, '2k_plus': 0 },
      egress_bytes: 3_000_000_000,
      total: { micros: total },
      unbilled: { micros: 0 },
    });
    expect(session).not.toHaveProperty('left_at');
    expect(records.map((each: { id: string }) => each.id).sort()).toEqual(['a1', 'a2']);
    expect(Date.parse(until)).toBeGreaterThan(Date.parse(session.entered_at));
  });

  test('has records whose relay reported the name as it was typed', async () => {
    const [{ id }] = (await get('/v1/sessions?participant=dan')).sessions;
    const { session, records } = await get(`/v1/sessions/${id}`);
    expect(session.records).toBe(1);
    expect(records.map((each: { id: string }) => each.id)).toEqual(['d1']);
  });

  test('is found by its own tenant alone', async () => {
    const [{ id }] = (await get('/v1/sessions?participant=ann')).sessions;
    const other = await newStage(app, controlOf);
    for (const path of [`/v1/sessions/${id}`, '/v1/sessions/x', `/v1/sessions/${'%00'}`]) {
      expect((await app.request('GET', path, { key: other.tenant.key })).status).toBe(404);
    }
  });
});

describe('sums by what sessions have', () => {
  const month = new Date().toISOString().slice(0, 7);
  const summarize = (query: string) => get(`/v1/usage/summary?${query}`);

  test('by participant, the most expensive first, with what belongs to no session', async () => {
    const { rows, sum, unassigned, ...others } = await summarize('group_by=participant');
    expect(rows.map((row: Row) => [row.participant, row.records])).toEqual([
      ['ann', 2],
      ['bob', 1],
      ['dan', 1],
    ]);
    expect(unassigned).toMatchObject({ records: 1, egress_bytes: 7_000_000 });
    const micros = [...rows, unassigned].map((row: Row) => row.total.micros);
    expect(micros.reduce((all, each) => all + each, 0)).toBe(sum.total.micros);
    expect(sum).toEqual((await summarize('')).sum);
    expect(others).toEqual({
      from: `${month}-01T00:00:00.000Z`,
      to: expect.any(String),
      assigned_until: expect.any(String),
    });
  });

  test('by key, and by customer of each month', async () => {
    const byKey = await summarize('group_by=key');
    expect(byKey.rows).toMatchObject([{ key: stage.tenant.keyId, records: 4, egress_bytes: 3_005_000_000 }]);
    const byCustomer = await summarize('group_by=month,customer');
    expect(byCustomer.rows).toMatchObject([
      { month, customer: 'acme', records: 2 },
      { month, customer: '', records: 2 },
    ]);
    expect(byCustomer.rows[0].total).toEqual((await get('/v1/sessions?participant=ann')).sessions[0].total);
  });

  test('of a tenant without sessions has no rows', async () => {
    const tenant = await app.paidTenant();
    await report(app, tenant, [record('ann', { seconds: 60, egress_bytes: 1_000_000_000 })]);
    const query = '/v1/usage/summary?group_by=customer';
    const { rows, sum, unassigned } = expectOk(await app.request('GET', query, { key: tenant.key }));
    expect(rows).toEqual([]);
    expect(unassigned).toEqual(sum);
    expect(sum.records).toBe(1);
  });

  test('in pages', async () => {
    const all = await summarize('group_by=day,participant');
    const first = await summarize('group_by=day,participant&limit=1');
    const second = await summarize(`group_by=day,participant&cursor=${first.next_cursor}`);
    expect([...first.rows, ...second.rows]).toEqual(all.rows);
    expect([first.sum, first.unassigned]).toEqual([all.sum, all.unassigned]);
    const beyond = await summarize(`group_by=day,participant&cursor=${renderPageToken(['90'])}`);
    expect(beyond).toMatchObject({ rows: [], sum: all.sum, unassigned: all.unassigned });
  });
});

describe('the cost of a room', () => {
  test('has the sums of its sessions, and what belongs to none', async () => {
    const cost = await get(`/v1/rooms/${stage.roomUid}/cost`);
    expect(cost).toMatchObject({
      room: 'lobby',
      room_uid: stage.roomUid,
      sessions: 4,
      assigned: { records: 4, egress_bytes: 3_005_000_000 },
      unassigned: { records: 1, egress_bytes: 7_000_000 },
    });
    const { sum } = await get('/v1/usage/summary?room=lobby');
    expect(cost.assigned.total.micros + cost.unassigned.total.micros).toBe(sum.total.micros);
  });

  test('of a room that is not there is 404', async () => {
    for (const uid of ['x', '%00']) {
      const answer = await app.request('GET', `/v1/rooms/${uid}/cost`, { key: stage.tenant.key });
      expect(answer.status).toBe(404);
    }
  });
});

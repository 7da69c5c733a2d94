import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { timeOf } from '../../../src/doors/consoles/components.ts';
import { mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { getPage, logInByKey, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { readEvents } from '../../support/console-stream.ts';
import { useControl } from '../../support/grpc.ts';
import { type Answer, usageRecord, useService } from '../../support/service.ts';
import { idOf, setLimits } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const controlOf = useControl(app);
const db = () => app.service.deps.db;
let stage: Stage;
let owner: TestMember;
let moderator: TestMember;

beforeAll(async () => {
  stage = await newStage(app, controlOf);
  owner = await makeMember(db(), idOf(stage.tenant));
  moderator = await makeMember(db(), idOf(stage.tenant), { role: 'moderator' });
});

async function newestEntry() {
  const { json } = await app.request('GET', '/v1/audit?limit=1', { key: stage.tenant.key });
  return json.entries[0];
}

const act = (path: string, fields: Record<string, string>, { cookie } = moderator) =>
  sendForm(app, `/console/rooms/at/lobby/${path}`, fields, { cookie });
const person = async (name: string) =>
  (await getPage(app, `/console/rooms/at/lobby/person?name=${name}`, moderator.cookie)).text;

describe('a room', () => {
  test('is listed with who is in it', async () => {
    await mint(stage, 'ann', { role: 'host', rank: 80 });
    const list = await getPage(app, '/console/rooms', moderator.cookie);
    expect(list.text).toContain('<a href="/console/rooms/at/lobby">');
    const room = await getPage(app, '/console/rooms/at/lobby', moderator.cookie);
    expect(room.text).toContain('/console/rooms/at/lobby/person?name=ann');
    expect(room.text).toContain('<bdi>ann</bdi> entered <bdi>lobby</bdi> as host');
  });

  test('is on one page of the list', async () => {
    const of = await newStage(app, controlOf);
    const { cookie } = await makeMember(db(), idOf(of.tenant));
    for (let at = 1; at <= 50; at += 1)
      await of.control.call(RoomService.method.createRoom, { room: `room-${at}` });
    const first = await getPage(app, '/console/rooms', cookie);
    const older = /href="([^"]+)" rel="next">Older rooms</.exec(first.text)![1]!;
    const second = await getPage(app, older, cookie);
    const roomsOf = ({ text }: Answer) => text.match(/rooms\/at\/[\w-]+/g)!.length;
    expect([roomsOf(first), roomsOf(second)]).toEqual([50, 1]);
    expect([first, second].map(({ text }) => text.includes('>Newest</a>'))).toEqual([false, true]);
  });

  test('is shown with its rules', async () => {
    const policy = { locked: true, muteOnEntry: true, maxParticipants: 5 };
    await stage.control.call(RoomService.method.createRoom, { room: 'ruled', policy });
    const rulesOf = async (room: string) => {
      const { text } = await getPage(app, `/console/rooms/at/${room}`, moderator.cookie);
      return ['>locked<', '>mutes on entry<', '>at most 5<'].map((rule) => text.includes(rule));
    };
    expect(await rulesOf('ruled')).toEqual([true, true, true]);
    expect(await rulesOf('lobby')).toEqual([false, false, false]);
  });

  test('is not found under a name that it never had, or that none can have', async () => {
    expect((await getPage(app, '/console/rooms/at/nothing', owner.cookie)).status).toBe(404);
    expect((await getPage(app, '/console/rooms/at/%3Cscript%3E', owner.cookie)).status).toBe(400);
    expect((await getPage(app, '/console/rooms/at/lobby/person?name=nobody', owner.cookie)).status).toBe(404);
  });

  test('of another tenant is neither shown nor changed', async () => {
    const other = await newStage(app, controlOf);
    await other.control.call(RoomService.method.createRoom, { room: 'theirs' });
    await mint(other, 'eve', { room: 'theirs' });
    for (const path of ['/console/rooms/at/theirs', '/console/rooms/at/theirs/person?name=eve']) {
      expect((await getPage(app, path, owner.cookie)).status).toBe(404);
    }
    const kicked = await sendForm(app, '/console/rooms/at/theirs/kick', { username: 'eve' }, owner);
    expect(kicked.status).toBe(404);
    expect((await getPage(app, '/console/rooms', owner.cookie)).text).not.toContain('theirs');
  });

  test('ends only with the word, and with its reason', async () => {
    await stage.control.call(RoomService.method.createRoom, { room: 'short' });
    const path = '/console/rooms/at/short/end';
    for (const confirm of ['', 'yes']) {
      const answer = await sendForm(app, path, { reason: 'kept', confirm }, moderator);
      expect([answer.status, answer.text.includes('value="kept"')]).toEqual([400, true]);
    }
    expect((await sendForm(app, path, { reason: 'enough', confirm: 'end' }, moderator)).status).toBe(303);
    const { text } = await getPage(app, '/console/rooms/at/short', moderator.cookie);
    expect(text).toContain('closed the room in <bdi>short</bdi>: <bdi>enough</bdi>');
    expect(text).not.toContain('/at/short/end');
    expect((await sendForm(app, path, { confirm: 'end' }, moderator)).status).toBe(409);
  });
});

test('a tenant without rooms sees how to make one, until it has had one', async () => {
  const of = await newStage(app, controlOf);
  const fresh = await app.paidTenant();
  const [first, later] = [await makeMember(db(), idOf(fresh)), await makeMember(db(), idOf(of.tenant))];
  const { text } = await getPage(app, '/console/rooms', first.cookie);
  expect(text).toContain(`&quot;tenant&quot;:&quot;${fresh.id}&quot;`);
  expect(text).toContain('boxoffice.control.v1.RoomService/CreateRoom');
  await of.control.call(RoomService.method.createRoom, { room: 'gone' });
  const { rows } = await db().query<{ name: string }>(
    `select name from rooms where tenant_id = $1 and state = 'LIVE'`,
    [idOf(of.tenant)],
  );
  for (const { name } of rows)
    await sendForm(app, `/console/rooms/at/${name}/end`, { confirm: 'end' }, later);
  const over = (await getPage(app, '/console/rooms', later.cookie)).text;
  expect(over).toContain('No room is live.');
  expect(over).not.toContain('The first room');
});

test('live rooms show what they cost so far, and ended ones stay with it, for those who see money', async () => {
  const of = await newStage(app, controlOf);
  const [own, mo] = [
    await makeMember(db(), idOf(of.tenant)),
    await makeMember(db(), idOf(of.tenant), { role: 'moderator' }),
  ];
  await mint(of, 'ann');
  const record = {
    ...usageRecord({ room: 'lobby', participant: 'ann' }),
    egress_bytes: 2 ** 30,
    seconds: 3_600,
  };
  const { json } = await app.request('POST', '/v1/usage', {
    key: of.tenant.relayKey,
    body: { records: [record] },
  });
  const cost = json.total.display;
  const see = async (query: string, { cookie } = own) =>
    (await getPage(app, `/console/rooms${query}`, cookie)).text;
  await expect.poll(() => see('')).toContain(`>${cost}<span class="hidden"> for lobby`);
  expect(await see('?state=ended')).toContain('No room has ended yet.');
  await sendForm(app, '/console/rooms/at/lobby/end', { confirm: 'end' }, own);
  expect(await see('')).not.toContain(cost);
  const ended = await see('?state=ended');
  expect(ended).toContain(`>${cost}<span class="hidden"> for lobby`);
  expect(ended).toContain(`/console/room-cost/${of.roomUid}`);
  const shown = await see('?state=ended', mo);
  expect(shown).toContain('<bdi>lobby</bdi>');
  expect(shown).not.toContain('room-cost');
});

test('rooms are found by name or its beginning, live ones and ended ones', async () => {
  const of = await newStage(app, controlOf);
  const { cookie } = await makeMember(db(), idOf(of.tenant));
  for (const room of ['class-1', 'class-2', 'talk']) {
    await of.control.call(RoomService.method.createRoom, { room });
    if (room !== 'talk') await sendForm(app, `/console/rooms/at/${room}/end`, { confirm: 'end' }, { cookie });
  }
  const find = async (query: string) => {
    const { text, status } = await getPage(app, `/console/rooms?${query}`, cookie);
    const table = /<tbody>.*<\/tbody>/s.exec(text)?.[0] ?? '';
    return { status, text, names: [...table.matchAll(/<bdi>([^<]*)/g)].map(([, name]) => name) };
  };
  expect((await find('state=ended&name=class')).names).toEqual(['class-2', 'class-1']);
  const one = await find('state=ended&name=class-1');
  expect(one.names).toEqual(['class-1']);
  expect(one.text).toContain(
    '<a href="/console/rooms?state=ended&amp;name=class-1&amp;begins=on">Names that begin so</a>',
  );
  expect((await find('state=ended&name=class-1&begins=on')).names).toEqual(['class-1']);
  expect((await find('name=class')).names).toEqual([]);
  expect((await find('name=ta')).names).toEqual(['talk']);
  const none = await find('state=ended&name=talk');
  expect(none.text).toContain('No room fits.');
  expect(none.text).toContain('<a href="/console/rooms?state=ended">Show all</a>');
  const wrong = await find('name=a+b');
  expect([wrong.status, wrong.text.includes('id="name-fault"')]).toEqual([400, true]);
});

describe('the desk of a room', () => {
  let desk: Stage;
  let cookie: string;
  beforeAll(async () => {
    desk = await newStage(app, controlOf);
    ({ cookie } = await makeMember(db(), idOf(desk.tenant), { role: 'moderator', email: 'mo@example.com' }));
    await mint(desk, 'ann', { role: 'host' });
    for (const name of ['bob', 'bobby', 'cy%d']) await mint(desk, name);
  });
  const path = '/console/rooms/at/lobby';
  /** What the buttons of a row send. */
  const press = (action: string, username: string, more: Record<string, string> = {}) => {
    const by = action === 'unban' ? {} : { audio: 'on', time: 'day' };
    const fields = { desk: 'on', username, scope: 'room', ...by, ...more };
    return sendForm(app, `${path}/${action}`, fields, { cookie });
  };
  const noticeOf = ({ headers }: Answer) => headers.get('set-cookie')!.split(';')[0];
  const see = async (query = '', more = '') =>
    (await getPage(app, `${path}${query}`, `${cookie}${more}`)).text;
  const namesIn = (text: string) =>
    [...text.matchAll(/person\?name=[^"]*"><bdi>([^<]*)/g)].map(([, name]) => name);

  test('counts roles, and finds participants by a part of the name', async () => {
    expect((await see()).replace(/\s+/g, ' ')).toContain('4 participants: 3 audience, 1 host.');
    expect(namesIn(await see('?search=bOb'))).toEqual(['bob', 'bobby']);
    expect(namesIn(await see('?search=%25'))).toEqual(['cy%d']);
    expect(await see('?search=zoe')).toContain('No participant in the room has such a name.');
  });

  test('mutes, kicks and bans from a row, and tells on the room what was done, once', async () => {
    for (const [action, row, told] of [
      ['mute', '#row-bob', 'audio of bob is muted.'],
      ['unmute', '#row-bob', 'audio of bob is not muted any more.'],
      ['kick', '#row-bobby', 'bob is out of the room.'],
      ['ban', '#row-bobby', 'bob is banned from lobby for 1 day.'],
      ['unban', '#row-bobby', 'The ban of bob is lifted: bob may join again.'],
    ] as const) {
      const answer = await press(action, 'bob', { beside: 'bobby' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}${row}`]);
      const next = await getPage(app, path, `${cookie}; ${noticeOf(answer)}`);
      expect(next.text).toContain(`<div class="done" role="status"><span><bdi>${told}</bdi></span>`);
      expect(next.headers.get('set-cookie')).toMatch(/-done=; .*Max-Age=0/);
      if (action === 'mute') expect(next.text).toContain(`${path}/unmute`);
    }
    expect(await see()).not.toContain('class="done"');
    await press('ban', 'bob');
    const { rows } = await db().query(
      `select room, expires_at - set_at between interval '23 hours' and interval '25 hours' as "isOfADay"
         from bans where tenant_id = $1 and value = 'bob' and lifted_at is null`,
      [idOf(desk.tenant)],
    );
    expect(rows).toEqual([{ room: 'lobby', isOfADay: true }]);
  });

  test('opens again at the row, or the one beside it, with the search and the page', async () => {
    const text = await see();
    expect(text).toMatch(/<tr id="row-ann" tabindex="-1">.*?name="beside" value="bobby"/s);
    expect(text).toMatch(/<tr id="row-cy%d" tabindex="-1">.*?name="beside" value="bobby"/s);
    const part = { search: 'b', after: 'ann' };
    const places = [];
    for (const [action, beside] of [
      ['mute', 'ann'],
      ['kick', 'cy%d'],
      ['kick', ''],
    ] as const) {
      const answer = await press(action, 'bobby', { ...part, ...(beside && { beside }) });
      places.push(answer.headers.get('location')!.replace(`${path}?search=b&after=ann`, ''));
    }
    expect(places).toEqual(['#row-bobby', '#row-cy%25d', '']);
    await mint(desk, 'bobby');
    expect(await see('?after=cy%25d')).toContain('There are no more participants.');
  });

  test('takes a ban back by one button, where it was', async () => {
    await mint(desk, 'gus');
    const part = { search: 'o', after: 'ann', beside: 'bobby' };
    const { text } = await getPage(app, path, `${cookie}; ${noticeOf(await press('ban', 'gus', part))}`);
    const form =
      /<div class="done".*?<form class="inline" method="post" action="([^"]*)">(.*?)<button>Undo/s.exec(
        text,
      )!;
    const fields = [...form[2]!.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    const answer = await sendForm(app, form[1]!, Object.fromEntries(fields), { cookie });
    expect(answer.headers.get('location')).toBe(`${path}?search=o&after=ann#row-bobby`);
    await mint(desk, 'gus');
    expect((await press('unban', 'gus')).status).toBe(404);
    for (const action of ['mute', 'kick'])
      expect(await see('', `; ${noticeOf(await press(action, 'gus'))}`)).not.toContain('>Undo<');
  });

  test('shows who looks on no buttons, and an ended room none either', async () => {
    const viewer = await makeMember(db(), idOf(desk.tenant), { role: 'viewer' });
    expect((await getPage(app, path, viewer.cookie)).text).not.toContain('/kick');
    await desk.control.call(RoomService.method.createRoom, { room: 'over' });
    expect(await see()).toContain('/kick');
    await sendForm(app, '/console/rooms/at/over/end', { confirm: 'end' }, { cookie });
    expect((await getPage(app, '/console/rooms/at/over', cookie)).text).not.toContain('/kick');
  });

  test('names the person who acted, to people alone', async () => {
    await press('mute', 'bobby');
    expect(await see()).toContain('<bdi>mo@example.com</bdi> muted <bdi>bobby</bdi>');
    const byKey = await logInByKey(app, desk.tenant.key);
    const { text } = await getPage(app, path, byKey);
    expect(text).toContain('A person at the console muted <bdi>bobby</bdi>');
    expect(text).not.toContain('mo@example.com');
    await desk.control.call(ModerationService.method.forceMute, {
      room: 'lobby',
      username: 'ann',
      tracks: [TrackKind.AUDIO],
    });
    expect(await see()).toContain('Your back end muted <bdi>ann</bdi>');
  });

  test('is where moderators begin after a log-in, and others do not', async () => {
    const startOf = async (role: 'moderator' | 'viewer', next?: string) => {
      const member = await makeMember(db(), idOf(desk.tenant), { role });
      const fields = { tenant: desk.tenant.id, ...(next && { next }) };
      return (await sendForm(app, '/console/tenants', fields, member)).headers.get('location');
    };
    expect(await startOf('moderator')).toBe('/console/rooms');
    expect(await startOf('moderator', '/console/members')).toBe('/console/members');
    expect(await startOf('viewer')).toBe('/console');
  });
});

describe('a moderator', () => {
  test('mutes, kicks and bans with a reason, which the audit trail and the events have', async () => {
    await mint(stage, 'bob');
    const muted = await act('mute', { username: 'bob', audio: 'on', screen: 'on', reason: 'noise' });
    expect([muted.status, muted.headers.get('location')]).toEqual([
      303,
      '/console/rooms/at/lobby/person?name=bob',
    ]);
    expect(await person('bob')).toMatch(/audio muted.*screen muted/s);
    await act('unmute', { username: 'bob', audio: 'on', screen: 'on' });
    expect(await person('bob')).not.toContain('audio muted');
    expect((await act('kick', { username: 'bob', reason: 'rude' })).status).toBe(303);
    const { rows } = await db().query<{ id: bigint }>(
      `select id, key_id, watchdog_id, actor, reason from moderation_events where tenant_id = $1 and action = 'kick'`,
      [idOf(stage.tenant)],
    );
    expect(rows).toEqual([
      { id: expect.any(BigInt), key_id: null, watchdog_id: null, actor: null, reason: 'rude' },
    ]);
    expect(await newestEntry()).toMatchObject({
      action: 'moderated',
      subject: String(rows[0]!.id),
      actor: { kind: 'member', id: moderator.id },
      after: { action: 'kick', room_uid: stage.roomUid },
    });
    expect(JSON.stringify(await newestEntry())).not.toContain('bob');
    expect(await person('bob')).toContain('left: kicked');
    await act('ban', { username: 'bob', scope: 'everywhere', time: 'day', reason: 'again' });
    await expect(mint(stage, 'bob')).rejects.toThrow(/banned/);
  });

  test('sees when a banned person left, how long the ban holds, and that it is one of the name', async () => {
    await mint(stage, 'dora');
    await db().query(
      `update participants set entered_at = now() - interval '3 days' where tenant_id = $1 and username = 'dora'`,
      [idOf(stage.tenant)],
    );
    await act('ban', { username: 'dora', scope: 'room', time: 'day', reason: 'again' });
    const { rows } = await db().query(
      `select expires_at as until from bans where tenant_id = $1 and value = 'dora'`,
      [idOf(stage.tenant)],
    );
    const text = (await person('dora')).replace(/\s+/g, ' ');
    const minute = (at: Date) => />(.*)</.exec(timeOf(at).text)![1]!;
    expect(text).toMatch(/left: banned<\/span> <a[^>]*><bdi>lobby<\/bdi><\/a> at <time/);
    expect(text).not.toContain('</a> since');
    expect(text).toContain('>Lift the ban</button>');
    expect(text).toMatch(
      new RegExp(
        `The name <bdi>dora</bdi> is banned from each room named <bdi>lobby</bdi> .*>${minute(rows[0].until)}<`,
      ),
    );
  });

  test('does by key what the key does: without an entry', async () => {
    await mint(stage, 'carl');
    const opened = await app.request('POST', '/console/session', { key: stage.tenant.key });
    const link = new URL(opened.json.url).pathname;
    const cookie = (await sendForm(app, link, {})).headers.get('set-cookie')!.split(';')[0]!;
    const before = await newestEntry();
    await act('kick', { username: 'carl' }, { ...moderator, cookie });
    expect(await newestEntry()).toEqual(before);
    const { rows } = await db().query(
      `select key_id from moderation_events where tenant_id = $1 and value = 'carl'`,
      [idOf(stage.tenant)],
    );
    expect(rows).toEqual([{ key_id: stage.tenant.keyId }]);
  });

  test.each([
    ['mute', { username: 'ann' }],
    ['mute', { username: 'ann', audio: 'on', reason: 'r'.repeat(501) }],
    ['mute', { username: '', audio: 'on' }],
    ['kick', { username: 'a b' }],
    ['ban', { username: 'ann', scope: 'room', time: 'always' }],
  ])('%s %j is refused', async (what, fields) => {
    const count = async () => (await db().query('select count(*) from moderation_events')).rows[0].count;
    const before = await count();
    expect((await act(what, fields)).status).toBe(400);
    expect(await count()).toBe(before);
  });
});

describe('bans', () => {
  const ban = (fields: Record<string, string>) =>
    sendForm(
      app,
      '/console/rooms/bans',
      { kind: 'user', time: 'hour', room: '', reason: '', ...fields },
      moderator,
    );

  test('are set, listed and lifted', async () => {
    expect((await ban({ subject: 'Mallory', reason: 'spam' })).status).toBe(303);
    expect((await ban({ kind: 'cidr', subject: '203.0.113.0/24', time: 'ever' })).status).toBe(303);
    expect((await ban({ kind: 'device', subject: 'A'.repeat(43), room: 'lobby' })).status).toBe(303);
    const { text } = await getPage(app, '/console/rooms/bans', moderator.cookie);
    for (const shown of ['mallory', '203.0.113.0/24', 'A'.repeat(43), 'spam']) expect(text).toContain(shown);
    const viewer = await makeMember(db(), idOf(stage.tenant), { role: 'viewer' });
    const seen = await getPage(app, '/console/rooms/bans', viewer.cookie);
    expect([text, seen.text].map((each) => each.includes('action="/console/rooms/bans'))).toEqual([
      true,
      false,
    ]);
    await expect(mint(stage, 'mallory')).rejects.toThrow(/banned/);
    const lifted = await sendForm(
      app,
      '/console/rooms/bans/lift',
      { kind: 'user', subject: 'mallory' },
      moderator,
    );
    expect(lifted.status).toBe(303);
    expect(await newestEntry()).toMatchObject({
      action: 'moderated',
      after: { action: 'unban', room_uid: null },
    });
    await mint(stage, 'mallory');
    const again = await sendForm(
      app,
      '/console/rooms/bans/lift',
      { kind: 'user', subject: 'mallory' },
      moderator,
    );
    expect(again.status).toBe(404);
  });

  test('are listed page by page, the newest first', async () => {
    const of = await newStage(app, controlOf);
    const { cookie } = await makeMember(db(), idOf(of.tenant), { role: 'moderator' });
    for (let at = 0; at <= 50; at += 1)
      await of.control.call(ModerationService.method.banSubject, {
        subject: { case: 'username', value: `user-${at}` },
      });
    const first = await getPage(app, '/console/rooms/bans', cookie);
    const older = /href="([^"]+)" rel="next">Older bans</.exec(first.text)![1]!;
    const second = await getPage(app, older, cookie);
    const usersOf = ({ text }: Answer) => new Set(text.match(/\buser-\d+/g));
    expect([usersOf(first).size, ...usersOf(second)]).toEqual([50, 'user-0']);
    expect([first, second].map(({ text }) => text.includes('>Newest</a>'))).toEqual([false, true]);
    expect(second.text).not.toContain('Older bans');
  });

  test.each([
    [{ subject: '' }, 'subject'],
    [{ subject: 'a b' }, 'subject'],
    [{ kind: 'cidr', subject: '203.0.113.1/24' }, 'subject'],
    [{ kind: 'cidr', subject: '0.0.0.0/0' }, 'subject'],
    [{ kind: 'device', subject: 'short' }, 'subject'],
    [{ subject: 'x', room: 'no room' }, 'room'],
    [{ subject: 'x', room: 'never-was' }, 'room'],
    [{ subject: 'x', reason: 'r'.repeat(501) }, 'reason'],
  ])('%j is told beside its field', async (fields, wrong) => {
    const answer = await ban(fields);
    expect([answer.status, answer.text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
  });
});

describe('watchdogs', () => {
  const set = (fields: Record<string, string>) =>
    sendForm(
      app,
      '/console/rooms/watchdogs',
      { room: 'lobby', condition: 'max_duration', minutes: '90', action: 'end_room', warning: '', ...fields },
      moderator,
    );

  test('are set, listed and deleted, with entries', async () => {
    expect((await set({ warning: '5' })).status).toBe(303);
    expect(await newestEntry()).toMatchObject({
      action: 'watchdog_created',
      actor: { kind: 'member', id: moderator.id },
      after: {
        condition: 'max_duration',
        duration_ms: 5_400_000,
        action: 'end_room',
        warn_before_ms: 300_000,
      },
    });
    const { subject: id } = await newestEntry();
    const { text } = await getPage(app, '/console/rooms/watchdogs', moderator.cookie);
    expect(text).toContain('the room is live for 90 min');
    expect((await set({})).status).toBe(409);
    const { watchdogs } = await stage.control.call(WatchdogService.method.listWatchdogs, {});
    expect(watchdogs.map((each) => each.id)).toEqual([id]);
    const path = `/console/rooms/watchdogs/${id}/delete`;
    expect((await sendForm(app, path, {}, moderator)).status).toBe(303);
    expect(await newestEntry()).toMatchObject({ action: 'watchdog_deleted', subject: id });
    expect((await sendForm(app, path, {}, moderator)).status).toBe(404);
  });

  test.each([
    [{ room: 'never-was' }, 'room'],
    [{ minutes: '0' }, 'minutes'],
    [{ minutes: '1.5' }, 'minutes'],
    [{ minutes: '999999' }, 'minutes'],
    [{ warning: '90' }, 'warning'],
    [{ condition: 'empty_for', action: 'kick' }, 'action'],
  ])('%j is told beside its field', async (fields, wrong) => {
    const answer = await set(fields);
    expect([answer.status, answer.text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
  });
});

const feedOf = async (member: TestMember, path = '/console/rooms') =>
  /data-events="([^"]+)"/.exec((await getPage(app, path, member.cookie)).text)![1]!.replaceAll('&amp;', '&');

describe('the stream of events', () => {
  test('tells what happened after the page, each line once, escaped and in one line', async () => {
    const stream = await readEvents(`${app.url}${await feedOf(moderator)}`, moderator.cookie);
    expect(stream.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await mint(stage, '<b>dora</b>');
    await act('kick', { username: '<b>dora</b>', reason: 'one\n\nevent: over\ndata: x' });
    await vi.waitFor(() => expect(stream.text()).toContain('kicked'));
    expect(stream.text()).toContain('<bdi>&lt;b&gt;dora&lt;/b&gt;</bdi> entered');
    expect(stream.text()).not.toMatch(/^event: over/m);
    expect(stream.text()).not.toContain('<b>');
    expect(stream.text().match(/entered/g)).toHaveLength(1);
    await stream.leave();
  });

  test('of one room tells of that room alone, and of no money', async () => {
    await stage.control.call(RoomService.method.createRoom, { room: 'quiet' });
    const feed = await feedOf(moderator, '/console/rooms/at/quiet');
    const stream = await readEvents(`${app.url}${feed}`, moderator.cookie);
    await mint(stage, 'loud');
    await app.request('POST', '/v1/keys', { key: stage.tenant.key, body: { name: 'x', kind: 'relay' } });
    await mint(stage, 'still', { room: 'quiet' });
    await vi.waitFor(() => expect(stream.text()).toContain('still'));
    expect(stream.text()).not.toMatch(/loud|key/);
    await stream.leave();
  });

  test('goes on where the browser lost it', async () => {
    const feed = await feedOf(moderator);
    await mint(stage, 'early');
    await mint(stage, 'late');
    const first = await readEvents(`${app.url}${feed}`, moderator.cookie);
    await vi.waitFor(() => expect(first.text()).toContain('late'));
    await first.leave();
    const [, id] = /id: (\S+)\nevent: row\ndata: [^\n]*early/.exec(first.text())!;
    const next = await readEvents(`${app.url}${feed}`, moderator.cookie, { 'last-event-id': id! });
    await vi.waitFor(() => expect(next.text()).toContain('late'));
    expect(next.text()).not.toContain('early');
    await next.leave();
  });

  test.each(['', '?after=x', '?after=1', `?after=${'9'.repeat(19)}-`, '?after=0-&room=a%20b'])(
    '%s is refused',
    async (query) => {
      expect((await getPage(app, `/console/rooms/events${query}`, moderator.cookie)).status).toBe(400);
    },
  );

  test('says that the page must be read again if its place is unknown', async () => {
    const stream = await readEvents(`${app.url}/console/rooms/events?after=999999-`, moderator.cookie);
    await vi.waitFor(() => expect(stream.text()).toContain('event: gap'));
    await vi.waitFor(() => expect(stream.isOver()).toBe(true));
  });

  test.each([
    ['the log-out', async (member: TestMember) => void (await sendForm(app, '/console/logout', {}, member))],
    [
      'the removal of the member',
      async ({ id }: TestMember) => void (await sendForm(app, `/console/members/${id}/remove`, {}, owner)),
    ],
    [
      'a role that may not look on',
      async ({ id }: TestMember) =>
        void (await sendForm(app, `/console/members/${id}/role`, { role: 'finance' }, owner)),
    ],
  ])('ends with %s in every process, and tells nothing of what happens later', async (what, end) => {
    const member = await makeMember(db(), idOf(stage.tenant), { role: 'moderator' });
    const feed = await feedOf(member);
    const other = await app.another();
    const streams = await Promise.all(
      [app.url, other.url].map((url) => readEvents(`${url}${feed}`, member.cookie)),
    );
    const name = `after-${what.replaceAll(' ', '-')}`;
    await end(member);
    await mint(stage, name);
    for (const stream of streams) {
      await vi.waitFor(() => expect(stream.isOver()).toBe(true));
      expect(stream.text()).toContain('event: over');
      expect(stream.text()).not.toContain(name);
    }
  });

  test('counts against the limit of open pages of the tenant, until the tab is closed', async () => {
    const tenant = await app.paidTenant();
    await setLimits(db(), tenant, { console_streams: 2 });
    const member = await makeMember(db(), idOf(tenant));
    const feed = await feedOf(member);
    const open = () => readEvents(`${app.url}${feed}`, member.cookie);
    const isFull = async (stream: Awaited<ReturnType<typeof open>>) => {
      await vi.waitFor(() => expect(stream.text()).not.toBe(''));
      return stream.text().includes('event: full');
    };
    const [first, second, third] = [await open(), await open(), await open()];
    expect([await isFull(first), await isFull(second), await isFull(third)]).toEqual([false, false, true]);
    await first.leave();
    const isFullAgain = async () => {
      const next = await open();
      const answer = await isFull(next);
      await next.leave();
      return answer;
    };
    await expect.poll(isFullAgain).toBe(false);
    await second.leave();
  });

  test('ends when the service stops', async () => {
    const other = await app.another();
    const stream = await readEvents(`${other.url}${await feedOf(moderator)}`, moderator.cookie);
    await vi.waitFor(() => expect(stream.text()).not.toBe(''));
    await other.service.stop();
    await vi.waitFor(() => expect(stream.isOver()).toBe(true));
  });
});

describe('people', () => {
  const erase = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(app, '/console/people/erase', { confirm: 'erase', ...fields }, { cookie });

  test('what is stored is shown, and downloaded', async () => {
    await mint(stage, 'fred');
    await act('kick', { username: 'fred', reason: 'why <not>' });
    const shown = await getPage(app, '/console/people?name=fred', owner.cookie);
    expect(shown.text).toContain('why &lt;not&gt;');
    expect(shown.text).toContain('/console/ledger?participant=fred');
    const file = await getPage(app, '/console/people/export?name=fred', owner.cookie);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="person.json"');
    expect(JSON.parse(file.text)).toMatchObject({
      participant: 'fred',
      moderation: [{ action: 'kick', room: 'lobby', reason: 'why <not>' }],
      bans: [],
    });
  });

  test('a person is erased with the word, and the page tells when it is done', async () => {
    const records = [usageRecord({ participant: 'Gina Gone' })];
    await app.request('POST', '/v1/usage', { key: stage.tenant.relayKey, body: { records } });
    for (const confirm of ['', 'yes']) {
      const answer = await erase({ participant: 'Gina Gone', confirm });
      expect([answer.status, answer.text.includes('value="Gina Gone"')]).toEqual([400, true]);
    }
    const answer = await erase({ participant: 'Gina Gone' });
    expect(answer.status).toBe(303);
    expect(await newestEntry()).toMatchObject({
      action: 'erasure_requested',
      actor: { kind: 'member', id: owner.id },
    });
    const path = answer.headers.get('location')!;
    await vi.waitFor(async () =>
      expect((await getPage(app, path, owner.cookie)).text).toContain('1 usage records'),
    );
    expect((await getPage(app, '/console/people', owner.cookie)).text).toContain(path);
    const ledger = await getPage(app, '/console/ledger?participant=Gina+Gone', owner.cookie);
    expect(ledger.text).toContain('No entry fits.');
  });

  test.each([
    ['', 400],
    ['(erased)', 400],
    ['x'.repeat(201), 400],
    ['ann', 409],
  ])('"%s" is told beside its field', async (participant, status) => {
    const answer = await erase({ participant });
    expect([answer.status, answer.text.includes('id="participant-fault"')]).toEqual([status, true]);
  });

  test('an erasure of another tenant is not found', async () => {
    const other = await app.paidTenant();
    const stranger = await makeMember(db(), idOf(other));
    const path = (await erase({ participant: 'somebody' })).headers.get('location')!;
    expect((await getPage(app, path, stranger.cookie)).status).toBe(404);
  });
});

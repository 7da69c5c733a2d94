/** Pages have words for people where the interface for programs has values. */
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeAll, expect, test } from 'vitest';
import { mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { useControl } from '../../support/grpc.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const controlOf = useControl(app);
const db = () => app.service.deps.db;
let stage: Stage;
let owner: TestMember;

const RECORD = usageRecord({
  room: 'lobby',
  participant: 'ann',
  role: 'broadcast_audience',
  tier: 'full_hd',
});

beforeAll(async () => {
  stage = await newStage(app, controlOf);
  owner = await makeMember(db(), idOf(stage.tenant));
  await mint(stage, 'ann', { role: 'broadcast_audience' });
  const report = (record: object) =>
    app.request('POST', '/v1/usage', { key: stage.tenant.relayKey, body: { records: [record] } });
  await report(RECORD);
  await report({ ...RECORD, tier: '2k_plus' });
});

const see = async (path: string) => (await getPage(app, path, owner.cookie)).text;
const RAW = /broadcast_audience|full_hd|2k_plus|egress_bytes|subscribe\.video/;

test('roles and tiers are words on pages, and values in CSV', async () => {
  const session = await (async () => {
    const find = async () =>
      /\/console\/room-sessions\/se_\w+/.exec(await see('/console/room-sessions'))?.[0];
    await expect.poll(find).toBeDefined();
    return (await find())!;
  })();
  await expect.poll(() => see(session)).toContain('>Full HD<');
  expect(await see(session)).toMatch(/Admitted by<\/\w+>\s*<td>\s*<bdi>[^<]+ \(\w{16}\)<\/bdi>/);
  for (const [path, words] of [
    ['/console/spend?by=role', '<bdi>audience of a broadcast</bdi>'],
    ['/console/spend?by=tier', '<bdi>Full HD</bdi>'],
    [`/console/charge?id=${RECORD.id}`, 'Time as audience of a broadcast in Full HD'],
    [session, '>audience of a broadcast<'],
    ['/console/conflicts', 'tier Full HD, then above 2K'],
    ['/console/rooms', 'as audience of a broadcast'],
    ['/console/rooms/at/lobby', '1 audience of a broadcast'],
    [
      '/console/rooms/at/lobby/person?name=ann',
      'May: write in the chat, change what others see of oneself, hear, see video.',
    ],
  ] as const) {
    const text = (await see(path)).replace(/\s+/g, ' ');
    expect(text, path).toContain(words);
    expect(text.replaceAll(/value="\w+"/g, ''), path).not.toMatch(RAW);
  }
  expect(await see('/console/spend.csv?by=tier')).toContain(',full_hd,');
  expect(await see('/console/spend.csv?by=role')).toContain(',broadcast_audience,');
});

test('what watchdogs did is told with their condition', async () => {
  await stage.control.call(RoomService.method.createRoom, { room: 'watched' });
  const fields = { room: 'watched', condition: 'empty_for', minutes: '10', action: 'end_room', warning: '' };
  await sendForm(app, '/console/rooms/watchdogs', fields, owner);
  expect(await see('/console/rooms/watchdogs')).toContain('the room is empty for 10 min');
  const audit = await see('/console/audit?action=watchdog+created');
  expect(audit).toContain('the room is empty for');
  expect(audit).toContain('<ins>10 min</ins>');
  expect(audit).not.toMatch(/empty_for|end_room|duration ms/);
});

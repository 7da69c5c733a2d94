/** `/console/devices`: credentials with which devices without a back end join rooms. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { createCredential, refuseDefaultRoom } from '../../../access/devices/create-credential.ts';
import {
  type DeviceCredential,
  type DeviceGrant,
  ROOM_PATTERNS_MAX,
} from '../../../access/devices/device-credential.ts';
import { listCredentials } from '../../../access/devices/list-credentials.ts';
import { revokeCredential } from '../../../access/devices/revoke-credential.ts';
import { rotateCredential } from '../../../access/devices/rotate-credential.ts';
import { isKeyId, KEY_NAME_LENGTH_MAX } from '../../../access/keys/api-key.ts';
import { getLastUses } from '../../../access/keys/get-last-uses.ts';
import { keyChangerOf, keyCreatorOf } from '../../../access/keys/key-changer.ts';
import type { LastUse } from '../../../access/keys/key-use.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import { PUBLISH_RIGHTS } from '../../../access/rights/publish-rights.ts';
import { ROOM_NAME_PATTERN } from '../../../access/rights/room-names.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { invalidField, notFound } from '../../../base/failure.ts';
import { parseLine } from '../../../base/lib/one-line.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import {
  alert,
  badge,
  checkbox,
  countDownTo,
  emptyState,
  type Faults,
  field,
  formId,
  freshNote,
  named,
  nameWithId,
  secretBox,
  timeOf,
} from '../../consoles/components.ts';
import { faultsOf, orWrong, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { noSuchPage } from '../../http/no-such-page.ts';
import { parseTime } from '../../http/period.ts';
import { onceForForm } from '../once-for-form.ts';
import { parseRoomPatterns } from '../room-patterns.ts';
import { lateRotation, parseOverlap, rotationForm } from '../rotation.ts';
import type { SessionCall } from '../route.ts';

const PAGE_SIZE = 50;
const ROOM = new RegExp(ROOM_NAME_PATTERN);

const WRONG_NAME = `Must have 1 to ${KEY_NAME_LENGTH_MAX} characters.`;

const publishName = (right: string) => `publish_${right}`;

export const DEVICE_FIELDS = [
  'form',
  'name',
  'rooms',
  'default_room',
  'expires_at',
  ...PUBLISH_RIGHTS.map(publishName),
];

export async function showDevices(call: SessionCall): Promise<Answer> {
  return devicesPage(call, {});
}

export async function submitDevice(call: SessionCall): Promise<Answer> {
  const { session, form, address } = call;
  try {
    const grant = parseGrant(form);
    const shown = await onceForForm<Shown>(call, async (tx) => {
      const created = await createCredential(tx, await keyCreatorOf(tx, session, address), grant);
      if (!created) throw invalidField('expires_at', 'must be in the future');
      return { name: grant.name, plaintext: created.plaintext };
    });
    return page(createdPage('The credential is created', shown));
  } catch (error) {
    const faults = faultsOf(error, ['expires_at']);
    if (!faults) throw error;
    return devicesPage(call, faults, 400);
  }
}

interface Shown {
  readonly name: string;
  readonly plaintext: string;
}

function parseGrant(form: Form): DeviceGrant {
  const textOf = (name: string) => (form.get(name) ?? '').trim();
  const read = readFields(
    {
      name: () => orWrong(parseLine(textOf('name'), KEY_NAME_LENGTH_MAX), WRONG_NAME),
      rooms: () => parseRooms(textOf('rooms')),
      default_room: () => parseDefaultRoom(textOf('default_room')),
      expires_at: () => parseEnd(textOf('expires_at')),
    },
    {
      default_room: ({ rooms = null, default_room: defaultRoom = null }) =>
        refuseDefaultRoom({ rooms, defaultRoom }),
    },
  );
  return {
    name: read.name,
    publish: PUBLISH_RIGHTS.filter((right) => form.has(publishName(right))),
    rooms: read.rooms,
    defaultRoom: read.default_room,
    expiresAt: read.expires_at,
  };
}

function parseRooms(text: string): readonly string[] | null {
  const rooms = parseRoomPatterns(text, ROOM_PATTERNS_MAX);
  return rooms.length === 0 ? null : rooms;
}

function parseDefaultRoom(text: string): string | null {
  if (text !== '' && !ROOM.test(text)) throw invalidField('default_room', 'must be the name of a room');
  return text === '' ? null : text;
}

function parseEnd(day: string): Date | null {
  if (day === '') return null;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw invalidField('expires_at', 'must be a day');
  return parseTime('expires_at', day)!;
}

export async function submitDeviceRotation(call: SessionCall): Promise<Answer> {
  const { session, form, params, address } = call;
  const overlapSeconds = parseOverlap(form);
  try {
    const shown = await onceForForm<Shown>(call, async (tx) => {
      const caller = await keyChangerOf(tx, session, address);
      const { credential, plaintext } = await rotateCredential(tx, caller, params.id ?? '', overlapSeconds);
      return { name: credential.name, plaintext };
    });
    return page(createdPage('The credential is replaced', shown));
  } catch (error) {
    const late = lateRotation(error, 'credential');
    if (late === undefined) throw error;
    return devicesPage(call, {}, 409, late);
  }
}

export async function showDeviceRevocation({ deps, session, params }: SessionCall): Promise<Answer> {
  const found = isKeyId(params.id ?? '') ? await findListed({ deps, session }, params.id!) : undefined;
  if (!found || found.revokedAt) throw notFound('device credential');
  const body = html`<h1>Revoke the credential ${named(found.name)}</h1>
<p>No further join with it succeeds, and it cannot be brought back. Relays end the sessions that it opened.</p>
<form method="post" action="/console/devices/${found.id}/revoke">
<p class="actions"><button class="danger">Revoke the credential</button> <a class="button" href="/console/devices">Cancel</a></p></form>`;
  return page({ title: 'Revoke a credential', body, layout: 'narrow' });
}

/** Read page by page: a tenant has few. */
async function findListed(
  { deps, session }: Pick<SessionCall, 'deps' | 'session'>,
  id: string,
): Promise<DeviceCredential | undefined> {
  let after: string | undefined;
  do {
    const read = await listCredentials(deps.db, session.tenant, after, PAGE_SIZE);
    const found = read?.credentials.find((each) => each.id === id);
    if (found) return found;
    after = read?.end;
  } while (after !== undefined);
  return undefined;
}

export async function submitDeviceRevocation(call: SessionCall): Promise<Answer> {
  const { deps, session, params, address } = call;
  await inTransaction(deps.db, async (tx) => {
    await revokeCredential(tx, await keyChangerOf(tx, session, address), params.id ?? '');
  });
  deps.events.wake(session.tenant);
  return done('/console/devices', 'The device credential is revoked.');
}

function createdPage(title: string, { name, plaintext }: Shown): Page {
  const body = html`<h1>${title}</h1>
<p class="note"><strong>It is shown this once.</strong> Copy it now: we keep only its hash.</p>
<section class="card">${secretBox('credential', `Credential “${name}”`, plaintext)}</section>
<p><a class="button" href="/console/devices">Back to the devices</a></p>`;
  return { title, body, layout: 'narrow' };
}

async function devicesPage(
  call: SessionCall,
  faults: Faults,
  status = 200,
  problem?: string,
): Promise<Answer> {
  const { deps, session, query, form } = call;
  const after = query.get('after');
  const read =
    after === undefined || isKeyId(after)
      ? await listCredentials(deps.db, session.tenant, after, PAGE_SIZE)
      : undefined;
  if (!read) throw noSuchPage();
  const uses = await getLastUses(deps.db, session.tenant, 'device', read.credentials);
  const mayChange = mayDo(session.role, 'change_keys');
  const body = html`<h1>Device credentials</h1>
${alert(problem)}
<p>A device without a back end joins rooms with one, at <code>POST /join</code>.</p>
${mayChange && freshNote(session, 'To change credentials', '/console/devices')}
${
  read.credentials.length === 0
    ? emptyState(
        'You have no device credentials yet.',
        'Create one for each kind of device, such as a door camera.',
      )
    : renderCredentials(read.credentials, uses, mayChange, session.isFresh)
}
<p class="pages">${after !== undefined && html`<a href="/console/devices">First page</a>`}${
    read.end !== undefined && html`<a href="/console/devices?after=${read.end}" rel="next">Newer ones</a>`
  }</p>
${mayChange && session.isFresh && creationForm(form, faults)}`;
  return page({ title: 'Device credentials', body }, status);
}

function creationForm(form: Form, faults: Faults): Html {
  const value = (name: string) => form.get(name);
  return html`<section class="card"><h2>Create a credential</h2><form method="post" action="/console/devices" novalidate>${formId()}
${field({
  name: 'name',
  label: 'Name',
  value: value('name'),
  hint: 'So that you know later which devices have it.',
  faults,
  input: html`maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" required`,
})}
<fieldset><legend>Devices may send</legend><div class="checks">${PUBLISH_RIGHTS.map((right) =>
    checkbox(publishName(right), right, form.has('name') ? form.has(publishName(right)) : right !== 'screen'),
  )}</div></fieldset>
${field({
  name: 'rooms',
  label: 'Rooms',
  value: value('rooms'),
  hint: html`Names, with spaces between; <code>*</code> stands for any characters. Empty: every room.`,
  faults,
  input: html`autocomplete="off" autocapitalize="none" spellcheck="false"`,
})}
${field({
  name: 'default_room',
  label: 'Room of a join that names none',
  value: value('default_room'),
  hint: html`Empty: <code>lobby</code>.`,
  faults,
  input: html`autocomplete="off" autocapitalize="none" spellcheck="false"`,
})}
${field({
  name: 'expires_at',
  label: 'Works until (UTC)',
  value: value('expires_at'),
  hint: 'Empty: without an end.',
  faults,
  input: html`type="date"`,
})}
<p><button class="primary">Create</button></p></form></section>`;
}

function renderCredentials(
  credentials: readonly DeviceCredential[],
  uses: ReadonlyMap<string, LastUse>,
  hasColumn: boolean,
  mayChange: boolean,
): Html {
  return table(
    'Device credentials',
    ['Name', 'May send', 'Rooms', 'Last used', 'State', hasColumn && 'Change'],
    credentials.map((each) => cellsOf(each, uses.get(each.id)?.at, mayChange)),
    { names: 'Name' },
  );
}

function cellsOf(credential: DeviceCredential, usedAt: Date | undefined, mayChange: boolean): HtmlValue[] {
  const { id, name, publish, rooms, defaultRoom, revokedAt } = credential;
  const where = rooms === null ? 'every room' : html`<code class="long">${rooms.join(' ')}</code>`;
  return [
    nameWithId(name, id),
    publish.length === 0 ? 'nothing' : publish.join(', '),
    html`<span>${where}${defaultRoom !== null && html`, else <code>${defaultRoom}</code>`}</span>`,
    usedAt ? timeOf(usedAt) : 'never',
    html`<span>${stateOf(credential)}</span>`,
    mayChange && revokedAt === null && renderChanges(credential),
  ];
}

function stateOf({ revokedAt, retiresAt, expiresAt }: DeviceCredential): Html {
  if (revokedAt) return html`${badge('revoked', 'bad')} ${timeOf(revokedAt)}`;
  if (retiresAt) return html`${badge('retires', 'warn')} ${countDownTo(retiresAt)}`;
  if (!expiresAt) return badge('works', 'good');
  return expiresAt.getTime() <= Date.now()
    ? html`${badge('expired', 'bad')} ${timeOf(expiresAt)}`
    : html`${badge('works', 'good')} until ${timeOf(expiresAt)}`;
}

function renderChanges({ id, name, retiresAt }: DeviceCredential): Html {
  return html`<span class="inline">${
    retiresAt === null && rotationForm(`/console/devices/${id}/rotate`, 'credential', name)
  }
<a class="button danger" href="/console/devices/${id}/revoke">Revoke<span class="hidden"> ${name}</span></a></span>`;
}

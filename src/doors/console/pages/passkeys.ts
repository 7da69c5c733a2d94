/** `/console/passkeys` and below: the passkeys of a person, and logging in with one. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { addPasskey } from '../../../access/passkeys/add-passkey.ts';
import { listPasskeys } from '../../../access/passkeys/list-passkeys.ts';
import {
  confirmWithPasskey,
  logInWithPasskey,
  type PasskeyLogin,
} from '../../../access/passkeys/log-in-with-passkey.ts';
import { offerConfirmation, offerLogin, offerNewPasskey } from '../../../access/passkeys/offer-challenge.ts';
import {
  PASSKEY_NAME_LENGTH_MAX,
  PASSKEYS_MAX,
  type Passkey,
  passkeysAt,
  type RelyingParty,
} from '../../../access/passkeys/passkey.ts';
import { removePasskey } from '../../../access/passkeys/remove-passkey.ts';
import { provedAddressOf, type Session } from '../../../access/sessions/session.ts';
import { Failure, notFound } from '../../../base/failure.ts';
import { parseLine } from '../../../base/lib/one-line.ts';
import { type Answer, done, type Page, page, redirect } from '../../consoles/answer.ts';
import {
  badge,
  emptyState,
  type Faults,
  field,
  freshNote,
  named,
  timeOf,
} from '../../consoles/components.ts';
import { parseNext } from '../../consoles/fields.ts';
import { fromOf } from '../../consoles/route.ts';
import { table } from '../../consoles/table.ts';
import { enter } from '../enter.ts';
import { PASSKEY_SCRIPT, passkeyForm, whyNone } from '../passkey-form.ts';
import type { Call, SessionCall } from '../route.ts';

const PATH = '/console/passkeys';

export async function showPasskeys(call: SessionCall): Promise<Answer> {
  return page(await passkeysPage(call, { given: call.form.get('name') ?? '' }));
}

export async function offerAdding({ deps, session }: SessionCall): Promise<Answer> {
  return json(await offerNewPasskey(deps, partyOf(deps), session, addressOf(session)));
}

export async function submitPasskey(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const given = form.get('name') ?? '';
  const name = parseLine(given, PASSKEY_NAME_LENGTH_MAX);
  if (name === undefined) {
    const faults = { name: `Give a name of 1 to ${PASSKEY_NAME_LENGTH_MAX} characters.` };
    return page(await passkeysPage(call, { given, faults }), 400);
  }
  const added = { email: addressOf(session), name, answer: form.get('answer') ?? '' };
  if (await addPasskey(deps, partyOf(deps), session, added, address))
    return done(PATH, 'The passkey is added.');
  const alert = 'The passkey was not added: it came too late, or is not one that can log in here. Try again.';
  return page(await passkeysPage(call, { given, alert }), 400);
}

export async function submitPasskeyRemoval({ deps, session, params, address }: SessionCall): Promise<Answer> {
  const id = params.id ?? '';
  await removePasskey(deps, session, { email: addressOf(session), id }, address);
  return session.passkeyId === id
    ? redirect('/console/login', { secret: null })
    : done(PATH, 'The passkey is removed.');
}

export async function offerLoggingIn({ deps, address }: Call): Promise<Answer> {
  return json(await offerLogin(deps, partyOf(deps), address));
}

export async function submitPasskeyLogin(call: Call): Promise<Answer> {
  const { deps, form } = call;
  const next = parseNext(form.get('next'));
  const login = await logInWithPasskey(
    deps,
    partyOf(deps),
    { answer: form.get('answer') ?? '', next },
    fromOf(call),
  );
  return login ? afterPasskey(deps, login) : refusedPage('/console/login', next);
}

export async function offerConfirming({ deps, session }: SessionCall): Promise<Answer> {
  return json(await offerConfirmation(deps, partyOf(deps), session, addressOf(session)));
}

export async function submitPasskeyConfirmation(call: SessionCall): Promise<Answer> {
  const { deps, form, session } = call;
  addressOf(session);
  const next = parseNext(form.get('next'));
  const login = await confirmWithPasskey(
    deps,
    partyOf(deps),
    { answer: form.get('answer') ?? '', next },
    { ...fromOf(call), session },
  );
  return login ? afterPasskey(deps, login) : refusedPage('/console/confirm', next);
}

async function afterPasskey(deps: Call['deps'], login: PasskeyLogin): Promise<Answer> {
  return 'askAt' in login ? redirect(login.askAt) : enter(deps, login.next, login.secret);
}

/** Fails with `not_found` where there are no passkeys. */
function partyOf({ config }: Call['deps']): RelyingParty {
  const { party } = passkeysAt(config.publicUrl);
  if (!party) throw notFound('page');
  return party;
}

/** Fails with `permission_denied` for a session that does not prove who the person is. */
function addressOf(session: Session): string {
  const email = provedAddressOf(session);
  if (email === undefined) throw new Failure('permission_denied');
  return email;
}

function json(body: object): Answer {
  return { kind: 'json', status: 200, body };
}

function refusedPage(back: string, next: string): Answer {
  const title = 'This passkey did not log you in';
  const body = html`<h1>${title}</h1>
<p role="alert">It may have been removed, it may have taken too long, or your address may belong to no tenant.</p>
<p><a href="${back}?next=${encodeURIComponent(next)}">Try again, or log in by mail</a></p>`;
  return page({ title, body, layout: 'narrow' }, 403);
}

interface Adding {
  readonly given?: string;
  readonly faults?: Faults;
  readonly alert?: string;
}

async function passkeysPage({ deps, session }: SessionCall, adding: Adding = {}): Promise<Page> {
  const email = provedAddressOf(session);
  const body =
    email === undefined
      ? html`<h1>Passkeys</h1>${strangerNote(session)}`
      : html`<h1>Passkeys</h1>
<p>A passkey logs you in without a mail: by the fingerprint, face or PIN of your device, or by a security key. Yours belong to
<strong>${named(email)}</strong>, and log in to every tenant of this address.</p>
${freshNote(session, 'To add or remove passkeys', PATH)}${passkeysTable(session, await listPasskeys(deps, email))}
${addingPart(deps.config.publicUrl, session, adding)}`;
  return { title: 'Passkeys', body, script: PASSKEY_SCRIPT };
}

/** Nothing proved who the person is, so the passkeys of the address are not theirs to see. */
function strangerNote({ member }: Session): Html {
  return member
    ? html`<p class="note">Passkeys are for people who have shown that an address is theirs.
<a href="/console/confirm?next=${PATH}">Log in by mail</a> to see and add yours.</p>`
    : html`<p class="note">Passkeys belong to people. This session was opened by a key or by an operator: log in as a member, by mail.</p>`;
}

function passkeysTable(session: Session, passkeys: readonly Passkey[]): Html {
  if (passkeys.length === 0)
    return emptyState('You have no passkeys yet.', 'Until then, each log-in needs a mail.');
  return table(
    'Your passkeys',
    ['Name', 'Kept', 'Added', 'Last used', session.isFresh && 'Change'],
    passkeys.map((passkey) => cellsOf(session, passkey)),
    { names: 'Name' },
  );
}

function cellsOf(session: Session, { id, name, backedUp, createdAt, lastUsedAt }: Passkey): HtmlValue[] {
  const isThis = id === session.passkeyId;
  return [
    html`<span>${named(name)}${isThis && html` ${badge('this session', 'good')}`}</span>`,
    backedUp ? 'on several devices' : 'on one device',
    timeOf(createdAt),
    lastUsedAt ? timeOf(lastUsedAt) : 'never',
    html`<form class="inline" method="post" action="${PATH}/${id}/remove">
<button class="danger">Remove<span class="hidden"> ${name}${isThis && ', which ends this session'}</span></button></form>`,
  ];
}

function addingPart(
  publicUrl: string,
  session: Session,
  { given = '', faults, alert }: Adding,
): Html | undefined {
  const available = passkeysAt(publicUrl);
  if (!available.party) return html`<p class="note">${whyNone(available, publicUrl)}</p>`;
  if (!session.isFresh) return undefined;
  const form = passkeyForm('create', {
    action: PATH,
    fields: field({
      name: 'name',
      label: 'Name',
      value: given,
      hint: 'For you, to know it again: such as the name of the device.',
      ...(faults && { faults }),
      input: html`autocomplete="off" maxlength="${PASSKEY_NAME_LENGTH_MAX}" pattern=".*\\S.*" required`,
    }),
    button: html`<button class="primary">Add a passkey</button>`,
  });
  return html`<section class="card"><h2>Add a passkey</h2>
${alert !== undefined && html`<p class="alert" role="alert">${alert}</p>`}
<p data-without-passkeys>To add one, you need JavaScript, and a browser that knows passkeys.</p>
${form}
<p class="hint">You may have ${PASSKEYS_MAX}. Have two at least, on different devices, or keep your mail.</p></section>`;
}

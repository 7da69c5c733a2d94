/** `/console/signing-keys`: the keys that sign participant tokens, and their turns. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { listSigningKeys } from '../../../../access/tokens/list-signing-keys.ts';
import {
  activateSigningKey,
  distrustSigningKey,
  removeSigningKey,
  replaceCompromisedKeys,
  rotateSigningKey,
} from '../../../../access/tokens/rotate-signing-keys.ts';
import type { SigningKeyRow } from '../../../../access/tokens/signing-key.ts';
import { type Answer, done, type Page, page } from '../../../consoles/answer.ts';
import { badge, type Faults, field, timeOf } from '../../../consoles/components.ts';
import { table } from '../../../consoles/table.ts';
import type { LoggedInCall } from '../route.ts';

const PATH = '/console/signing-keys';

/** What must be typed to end every token that is out. */
const REPLACE = 'replace';

export async function showSigningKeys(call: LoggedInCall): Promise<Answer> {
  return page(await keysPage(call, {}));
}

async function keysPage({ deps }: LoggedInCall, faults: Faults): Promise<Page> {
  const keys = await listSigningKeys(deps);
  const pending = keys.find(({ state }) => state === 'pending');
  const button = (action: string, text: string) =>
    html`<form class="inline" method="post" action="${PATH}/${action}"><button>${text}</button></form>`;
  const body = html`<h1>Signing keys</h1>
<p>Relays verify participant tokens with the public parts. The schedule turns the keys by itself.</p>
<div class="actions">${pending ? button('activate', 'Let the pending key sign now') : button('rotate', 'Publish a new key')}</div>
${table(
  'Signing keys, the newest first',
  ['Key', 'State', 'Published', 'Active since', 'Remove at', 'Removed', 'Do'],
  keys.map((key) => [
    html`<code>${key.kid}</code>`,
    badge(key.state, key.state === 'active' ? 'good' : ''),
    timeOf(key.publishedAt),
    key.activatedAt && timeOf(key.activatedAt),
    key.removeAt && timeOf(key.removeAt),
    key.removedAt && timeOf(key.removedAt),
    renderActions(key),
  ]),
)}
<section class="card"><h2>If a key has leaked</h2>
<p>A new key signs at once, and every other one is removed. <strong>All tokens that are out die</strong> as soon as relays read the keys
again.</p>
<form method="post" action="${PATH}/replace" novalidate>
${field({ name: 'confirm', label: `To do this, type: ${REPLACE}`, faults, input: html`autocomplete="off"` })}
<button class="danger">Replace all keys</button></form></section>`;
  return { title: 'Signing keys', body };
}

function renderActions({ kid, state, removeAt }: SigningKeyRow): Html | undefined {
  const button = (action: string, text: string) =>
    html`<form class="inline" method="post" action="${PATH}/${kid}/${action}"><button>${text}<span class="hidden"> ${kid}</span></button></form>`;
  if (state === 'pending' || state === 'retiring') return button('remove', 'Remove');
  return state === 'removed' && removeAt !== null ? button('distrust', 'Distrust its statements') : undefined;
}

export async function submitRotation({ deps, session }: LoggedInCall): Promise<Answer> {
  await rotateSigningKey(deps.db, operatorOf(session), deps.box);
  return done(PATH, 'A new key is published.');
}

export async function submitActivation({ deps, session }: LoggedInCall): Promise<Answer> {
  await activateSigningKey(deps.db, operatorOf(session));
  return done(PATH, 'The new key signs from now on.');
}

export async function submitKeyRemoval({ deps, session, params }: LoggedInCall): Promise<Answer> {
  await removeSigningKey(deps.db, operatorOf(session), params.kid ?? '');
  return done(PATH, 'The key is removed.');
}

export async function submitDistrust({ deps, session, params }: LoggedInCall): Promise<Answer> {
  await distrustSigningKey(deps.db, operatorOf(session), params.kid ?? '');
  return done(PATH, 'What the key signed is not trusted any more.');
}

export async function submitReplacement(call: LoggedInCall): Promise<Answer> {
  const { deps, session, form } = call;
  if ((form.get('confirm') ?? '').trim() !== REPLACE) {
    return page(await keysPage(call, { confirm: `Type the word ${REPLACE}.` }), 400);
  }
  await replaceCompromisedKeys(deps.db, operatorOf(session), deps.box);
  return done(PATH, 'All keys are replaced.');
}

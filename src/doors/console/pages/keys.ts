/** `/console/keys`: API keys: create, rotate, revoke. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { type ApiKey, KEY_KINDS, KEY_NAME_LENGTH_MAX } from '../../../access/keys/api-key.ts';
import { createKey } from '../../../access/keys/create-key.ts';
import { getLastUses } from '../../../access/keys/get-last-uses.ts';
import { keyChangerOf, keyCreatorOf } from '../../../access/keys/key-changer.ts';
import type { LastUse } from '../../../access/keys/key-use.ts';
import { KEYS_PAGE_SIZE, listKeys } from '../../../access/keys/list-keys.ts';
import { revokeKey } from '../../../access/keys/revoke-key.ts';
import { rotateKey } from '../../../access/keys/rotate-key.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { Failure, notFound } from '../../../base/failure.ts';
import { parseLine } from '../../../base/lib/one-line.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import {
  alert,
  badge,
  countDownTo,
  emptyState,
  type Faults,
  field,
  formId,
  freshNote,
  named,
  nameWithId,
  secretBox,
  select,
  timeOf,
} from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { faultsOf, orWrong, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import { onceForForm } from '../once-for-form.ts';
import { lateRotation, parseOverlap, rotationForm } from '../rotation.ts';
import type { SessionCall } from '../route.ts';
import { findProgress, renderSteps } from './start.ts';

const KIND_CHOICES = [
  { value: 'relay', text: 'Relay: reports usage, and nothing else' },
  { value: 'backend', text: 'Back end: everything of this tenant' },
];

const WRONG_NAME = `Give a name of 1 to ${KEY_NAME_LENGTH_MAX} characters.`;

/** What must be typed to revoke a key. The second one stops a relay or a back end. */
const REVOKE = 'revoke';
const STOP_SERVICE = 'stop-service';

export async function showKeys(call: SessionCall): Promise<Answer> {
  return page(await keysPage(call, {}));
}

async function allKeys({ deps, session }: Pick<SessionCall, 'deps' | 'session'>): Promise<readonly ApiKey[]> {
  return (await listKeys(deps.db, session.tenant, undefined))?.keys ?? [];
}

interface Shown {
  readonly name: string;
  readonly plaintext: string;
}

export async function submitKey(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  try {
    const wanted = readFields({
      name: () => orWrong(parseLine(form.get('name') ?? '', KEY_NAME_LENGTH_MAX), WRONG_NAME),
      kind: () => parseChoice('kind', form.get('kind'), KEY_KINDS),
    });
    const shown = await onceForForm<Shown>(call, async (tx) => {
      const caller = await keyCreatorOf(tx, session, address);
      const { plaintext } = await createKey(tx, deps.config, caller, wanted);
      return { name: wanted.name, plaintext };
    });
    return page(createdPage('The key is created', shown));
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(await keysPage(call, faults), 400);
  }
}

export async function submitRotation(call: SessionCall): Promise<Answer> {
  const { deps, session, form, params, address } = call;
  const overlapSeconds = parseOverlap(form);
  try {
    const shown = await onceForForm<Shown>(call, async (tx) => {
      const caller = await keyChangerOf(tx, session, address);
      const old = { keyId: params.id ?? '', overlapSeconds };
      const { key, plaintext } = await rotateKey(tx, deps.config, caller, old);
      return { name: key.name, plaintext };
    });
    return page(createdPage('The key is replaced', shown));
  } catch (error) {
    const late = lateRotation(error, 'key');
    if (late === undefined) throw error;
    return page(await keysPage(call, {}, late), 409);
  }
}

export async function showRevocation(call: SessionCall): Promise<Answer> {
  return page(revocationPage(await findWorking(call), await isLast(call), {}));
}

export async function submitRevocation(call: SessionCall): Promise<Answer> {
  const { deps, session, form, params, address } = call;
  const typed = (form.get('confirm') ?? '').trim();
  const refuse = async (confirm: string) =>
    page(revocationPage(await findWorking(call), await isLast(call), { confirm }), 400);
  if (typed !== REVOKE && typed !== STOP_SERVICE) return refuse('Type the word as it is written above.');
  try {
    await inTransaction(deps.db, async (tx) => {
      const caller = await keyChangerOf(tx, session, address);
      await revokeKey(tx, caller, params.id ?? '', { stopServiceConfirmed: typed === STOP_SERVICE });
    });
  } catch (error) {
    const isLastKey = error instanceof Failure && error.kind === 'would_stop_service';
    if (isLastKey) return refuse(`This is the last working key of its kind: type ${STOP_SERVICE}.`);
    throw error;
  }
  deps.events.wake(session.tenant);
  return done('/console/keys', 'The key is revoked.');
}

/** The key in the path. Fails with `not_found`. */
export async function findListed(call: SessionCall): Promise<ApiKey> {
  const key = (await allKeys(call)).find(({ id }) => id === call.params.id);
  if (!key) throw notFound('key');
  return key;
}

async function findWorking(call: SessionCall): Promise<ApiKey> {
  const key = await findListed(call);
  if (key.revokedAt) throw notFound('key');
  return key;
}

/** Whether no other key of its kind works on. The operation decides; this is what the page says. */
async function isLast(call: SessionCall): Promise<boolean> {
  const keys = await allKeys(call);
  const key = keys.find(({ id }) => id === call.params.id);
  return !keys.some(
    (each) =>
      each.id !== key?.id && each.kind === key?.kind && each.revokedAt === null && each.retiresAt === null,
  );
}

/** Both keys of the wizard, with the lines that use them. */
export async function submitFirstKeys(call: SessionCall): Promise<Answer> {
  const { deps, session, address } = call;
  const { backend, relay } = await onceForForm(call, async (tx) => {
    const caller = await keyCreatorOf(tx, session, address);
    const first = await createKey(tx, deps.config, caller, { name: 'default', kind: 'backend' });
    const second = await createKey(tx, deps.config, caller, { name: 'relay', kind: 'relay' });
    return { backend: first.plaintext, relay: second.plaintext };
  });
  const { publicUrl } = deps.config;
  const lines = `RELAY=${relay}
curl -s ${publicUrl}/v1/usage -H "authorization: Bearer $RELAY" -H 'content-type: application/json' \\
  -d '{"records":[{"id":"first-1","room":"lobby","participant":"ann","role":"host","tier":"hd",
  "seconds":60,"egress_bytes":50000000,"ingress_bytes":1000000}]}'`;
  const body = html`<h1>Your keys</h1>
<p class="note"><strong>They are shown this once.</strong> Copy them now: we keep only their hashes.</p>
<section class="card">${secretBox('backend-key', 'Back end: may do everything', backend)}</section>
<section class="card">${secretBox('relay-key', 'Relay: reports usage', relay)}</section>
<section class="card"><h2>Report the first usage</h2><p>Paste these lines into a terminal.</p>
<pre tabindex="0"><code id="first-usage">${lines}</code></pre><button type="button" data-copy="first-usage" hidden>Copy the lines</button></section>
<section class="card">${renderSteps(call, await findProgress(call))}</section>
<p><a class="button" href="/console/start">Go on</a></p>`;
  return page({ title: 'Your keys', body });
}

function createdPage(title: string, { name, plaintext }: Shown): Page {
  const body = html`<h1>${title}</h1>
<p class="note"><strong>It is shown this once.</strong> Copy it now: we keep only its hash.</p>
<section class="card">${secretBox('key', `Key “${name}”`, plaintext)}</section>
<p><a class="button" href="/console/keys">Back to the keys</a></p>`;
  return { title, body, layout: 'narrow' };
}

function revocationPage({ id, name, kind }: ApiKey, isLastKey: boolean, faults: Faults): Page {
  const word = isLastKey ? STOP_SERVICE : REVOKE;
  const body = html`<h1>Revoke the key ${named(name)}</h1>
<p>Every request with it is refused from that moment on, and it cannot be brought back.</p>
${isLastKey && html`<p class="alert">It is your last working ${kind} key. Whatever uses it stops.</p>`}
<form method="post" action="/console/keys/${id}/revoke">
${field({
  name: 'confirm',
  label: html`Type <code>${word}</code> to confirm`,
  faults,
  input: html`autocomplete="off" autocapitalize="none" spellcheck="false" required`,
})}
<p class="actions"><button class="danger">Revoke the key</button> <a class="button" href="/console/keys">Cancel</a></p></form>`;
  return { title: 'Revoke a key', body, layout: 'narrow' };
}

async function keysPage(call: SessionCall, faults: Faults, problem?: string): Promise<Page> {
  const { deps, session, form } = call;
  const keys = await allKeys(call);
  const uses = await getLastUses(deps.db, session.tenant, 'key', keys);
  const mayChange = mayDo(session.role, 'change_keys');
  const body = html`<h1>Keys</h1>
${alert(problem)}
${mayChange && freshNote(session, 'To change keys', '/console/keys')}
${
  keys.length === 0
    ? emptyState(
        'You have no keys yet.',
        'A relay needs one to report usage, and your back end one for everything else.',
      )
    : table(
        'Keys',
        ['Name', 'Kind', 'Created', 'Last used', 'State', mayChange && 'Change'],
        keys.toReversed().map((key) => cellsOf(key, uses.get(key.id), session.isFresh)),
        { names: 'Name' },
      )
}
${keys.length === KEYS_PAGE_SIZE && html`<p class="hint">The oldest ${KEYS_PAGE_SIZE} keys are shown.</p>`}
${
  mayChange &&
  session.isFresh &&
  html`<section class="card"><h2>Create a key</h2><form method="post" action="/console/keys" novalidate>${formId()}
${field({
  name: 'name',
  label: 'Name',
  value: form.get('name'),
  hint: 'So that you know later what uses it.',
  faults,
  input: html`maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" required`,
})}
${select('kind', 'Kind', KIND_CHOICES, form.get('kind') ?? 'relay', faults)}
<p><button class="primary">Create</button></p></form></section>`
}`;
  return { title: 'Keys', body };
}

function cellsOf(key: ApiKey, last: LastUse | undefined, isFresh: boolean): HtmlValue[] {
  const { id, name, kind, createdAt, revokedAt } = key;
  return [
    html`<a href="/console/keys/${id}">${nameWithId(name, id)}</a>`,
    kind,
    timeOf(createdAt),
    last
      ? html`<span>${timeOf(last.at)}${last.address && html` <span class="hint">from ${last.address}</span>`}</span>`
      : 'never',
    stateOf(key),
    isFresh && revokedAt === null && renderChanges(key),
  ];
}

export function stateOf({ revokedAt, retiresAt }: ApiKey): Html {
  if (revokedAt) return html`${badge('revoked', 'bad')} ${timeOf(revokedAt)}`;
  if (retiresAt) return html`${badge('retires', 'warn')} ${countDownTo(retiresAt)}`;
  return badge('works', 'good');
}

function renderChanges({ id, name, retiresAt }: ApiKey): Html {
  return html`<span class="inline">${retiresAt === null && rotationForm(`/console/keys/${id}/rotate`, 'key', name)}
<a class="button danger" href="/console/keys/${id}/revoke">Revoke<span class="hidden"> ${name}</span></a></span>`;
}

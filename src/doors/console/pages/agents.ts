/** `/console/agents`: keys with which agents call the tools of `/mcp`. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import {
  AGENT_DAYS_MAX,
  AGENT_DAYS_USUAL,
  AGENT_KEYS_MAX,
  AGENT_ROLES,
  AGENT_WRITES_MAX,
  type ListedAgentKey,
  type NewAgentKey,
} from '../../../access/agents/agent-key.ts';
import { createAgentKey } from '../../../access/agents/create-agent-key.ts';
import { AGENT_KEYS_LISTED_MAX, listAgentKeys } from '../../../access/agents/list-agent-keys.ts';
import { revokeAgentKey } from '../../../access/agents/revoke-agent-key.ts';
import { KEY_NAME_LENGTH_MAX } from '../../../access/keys/api-key.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import { changerOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { notFound } from '../../../base/failure.ts';
import { parseLine } from '../../../base/lib/one-line.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import {
  badge,
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
import { parseChoice, parseWhole } from '../../consoles/fields.ts';
import { faultsOf, orWrong, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { onceForForm } from '../once-for-form.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/agents';

export const AGENT_FIELDS = ['form', 'name', 'role', 'writes', 'days'];

const ROLE_CHOICES = [
  { value: 'viewer', text: 'Viewer: reads money, events and the audit trail' },
  { value: 'finance', text: 'Finance: reads money, and may write budgets, alerts and payment pages' },
];

const WRONG_NAME = `Give a name of 1 to ${KEY_NAME_LENGTH_MAX} characters.`;

export async function showAgents(call: SessionCall): Promise<Answer> {
  return page(await agentsPage(call, {}));
}

interface Shown {
  readonly name: string;
  readonly plaintext: string;
}

export async function submitAgent(call: SessionCall): Promise<Answer> {
  const { session, form, address } = call;
  try {
    const wanted = parseAgentKey(form);
    const shown = await onceForForm<Shown>(call, async (tx) => {
      const { plaintext } = await createAgentKey(tx, changerOf(session, address), wanted);
      return { name: wanted.name, plaintext };
    });
    return page(createdPage(call, shown));
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(await agentsPage(call, faults), 400);
  }
}

function parseAgentKey(form: Form): NewAgentKey {
  const textOf = (name: string) => (form.get(name) ?? '').trim();
  const { writes, ...read } = readFields(
    {
      name: () => orWrong(parseLine(textOf('name'), KEY_NAME_LENGTH_MAX), WRONG_NAME),
      role: () => parseChoice('role', form.get('role'), AGENT_ROLES),
      writes: () => parseWhole(textOf('writes'), 0, AGENT_WRITES_MAX),
      days: () => parseWhole(textOf('days'), 1, AGENT_DAYS_MAX),
    },
    {
      writes: ({ role, writes = 0 }) =>
        orWrong(role !== 'viewer' || writes === 0, 'A viewer only reads: give 0, or choose finance.'),
    },
  );
  return { ...read, writesPerDay: writes };
}

/** One that works. Fails with `not_found`. */
async function findWorking({ deps, session, params }: SessionCall): Promise<ListedAgentKey> {
  const found = (await listAgentKeys(deps.db, session.tenant)).find(({ id }) => id === params.id);
  if (!found || found.revokedAt || found.isExpired) throw notFound('key for agents');
  return found;
}

export async function showAgentRevocation(call: SessionCall): Promise<Answer> {
  const { id, name } = await findWorking(call);
  const body = html`<h1>Revoke the key ${named(name)}</h1>
<p>Its agent is refused from that moment on, also what it was about to confirm. The key cannot be brought back.</p>
<form method="post" action="${PATH}/${id}/revoke">
<p class="actions"><button class="danger">Revoke the key</button> <a class="button" href="${PATH}">Cancel</a></p></form>`;
  return page({ title: 'Revoke a key for agents', body, layout: 'narrow' });
}

export async function submitAgentRevocation(call: SessionCall): Promise<Answer> {
  const { deps, session, params, address } = call;
  await inTransaction(deps.db, (tx) => revokeAgentKey(tx, changerOf(session, address), params.id ?? ''));
  return done(PATH, 'The key is revoked.');
}

function createdPage({ deps: { config } }: SessionCall, { name, plaintext }: Shown): Page {
  const title = 'The key is created';
  const body = html`<h1>${title}</h1>
<p class="note"><strong>It is shown this once.</strong> Copy it now: we keep only its hash.</p>
<section class="card">${secretBox('key', `Key “${name}”`, plaintext)}
<p>The agent connects to <code>${config.publicUrl}/mcp</code> with the header <code>Authorization: Bearer</code> and the key.</p></section>
<p><a class="button" href="${PATH}">Back to the agents</a></p>`;
  return { title, body, layout: 'narrow' };
}

async function agentsPage({ deps, session, form }: SessionCall, faults: Faults): Promise<Page> {
  const keys = await listAgentKeys(deps.db, session.tenant);
  const mayChange = mayDo(session.role, 'change_agents');
  const body = html`<h1>Agents</h1>
<p>An assistant with such a key reads this tenant, and writes a little of it, with <a href="/docs/mcp">tools</a>. The key opens nothing else.</p>
${!deps.config.mcp && html`<p class="note">The operator has not turned these tools on: until then, keys open nothing.</p>`}
${mayChange && freshNote(session, 'To change keys', PATH)}
${
  keys.length === 0
    ? emptyState('There are no keys for agents.', 'Make one for each agent, so that you can revoke it alone.')
    : table(
        'Keys for agents',
        ['Name', 'Role', 'Writes in 24 hours', 'Created', 'State', mayChange && 'Change'],
        keys.map((key) => cellsOf(key, mayChange && session.isFresh)),
        { names: 'Name' },
      )
}
${keys.length === AGENT_KEYS_LISTED_MAX && html`<p class="hint">The newest ${AGENT_KEYS_LISTED_MAX} keys are shown.</p>`}
${mayChange && session.isFresh && creationForm(form, faults)}`;
  return { title: 'Agents', body };
}

function creationForm(form: Form, faults: Faults): Html {
  return html`<section class="card"><h2>Create a key</h2><form method="post" action="${PATH}" novalidate>${formId()}
${field({
  name: 'name',
  label: 'Name',
  value: form.get('name'),
  hint: `So that you know later which agent has it. ${AGENT_KEYS_MAX} may work at once.`,
  faults,
  input: html`maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" required`,
})}
${select('role', 'Role', ROLE_CHOICES, form.get('role') ?? 'viewer', faults)}
${field({
  name: 'writes',
  label: 'Writes in any 24 hours',
  value: form.get('writes') ?? '0',
  hint: `${AGENT_WRITES_MAX} at most. 0: it only reads. An agent may be talked into all of them.`,
  faults,
  input: html`inputmode="numeric" autocomplete="off" required`,
})}
${field({
  name: 'days',
  label: 'Days until it expires',
  value: form.get('days') ?? String(AGENT_DAYS_USUAL),
  hint: `${AGENT_DAYS_MAX} at most.`,
  faults,
  input: html`inputmode="numeric" autocomplete="off" required`,
})}
<p><button class="primary">Create</button></p></form></section>`;
}

function cellsOf(key: ListedAgentKey, mayRevoke: boolean): HtmlValue[] {
  const { id, name, role, writesPerDay, writesUsed, createdAt, revokedAt, isExpired } = key;
  return [
    nameWithId(name, id),
    role,
    writesPerDay === 0 ? 'only reads' : `${writesUsed} of ${writesPerDay}`,
    timeOf(createdAt),
    html`<span>${stateOf(key)}</span>`,
    mayRevoke &&
      !revokedAt &&
      !isExpired &&
      html`<a class="button danger" href="${PATH}/${id}/revoke">Revoke<span class="hidden"> ${name}</span></a>`,
  ];
}

function stateOf({ revokedAt, isExpired, expiresAt }: ListedAgentKey): Html {
  if (revokedAt) return html`${badge('revoked', 'bad')} ${timeOf(revokedAt)}`;
  if (isExpired) return html`${badge('expired', 'bad')} ${timeOf(expiresAt)}`;
  return html`${badge('works', 'good')} until ${timeOf(expiresAt)}`;
}

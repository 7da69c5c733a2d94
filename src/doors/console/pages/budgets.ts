/** `/console/budgets`: what may be spent at most, and what is spent and held of it. */
import { type Html, html } from '@boxoffice/pages/html';
import { KEY_ID_PATTERN } from '../../../access/keys/api-key.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import { ROOM_PATTERN_PATTERN } from '../../../access/rights/room-names.ts';
import { actorOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { invalidField } from '../../../base/failure.ts';
import {
  BUDGET_ID_PATTERN,
  type Budget,
  parseCustomer,
  SHARE_MAX,
  SHARES_MAX,
  type WantedBudget,
} from '../../../control/budgets/budget.ts';
import { deleteBudget } from '../../../control/budgets/delete-budget.ts';
import { getBudget, getBudgets } from '../../../control/budgets/get-budgets.ts';
import { PERIODS } from '../../../control/budgets/period.ts';
import { putBudget } from '../../../control/budgets/put-budget.ts';
import { plainDollars } from '../../../money/amount.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { budgetsTable, PERIOD_TEXTS } from '../../consoles/budgets-table.ts';
import { emptyState, type Faults, field, freshNote, named, select } from '../../consoles/components.ts';
import { parseChoice, parseMicros } from '../../consoles/fields.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import type { SessionCall } from '../route.ts';

export const BUDGET_FIELDS = ['id', 'key', 'room', 'customer', 'period', 'limit', 'kind', 'alerts'] as const;
type BudgetField = (typeof BUDGET_FIELDS)[number];

const KINDS = ['hard', 'soft'] as const;
const WRONG_ID = 'must be 1 to 64 of a-z, 0-9, _ and -, such as acme-monthly';

export async function showBudgets(call: SessionCall): Promise<Answer> {
  return budgetsPage(call, {});
}

export async function submitBudget(call: SessionCall): Promise<Answer> {
  const { deps, session, address } = call;
  try {
    const wanted = parseBudget((name) => call.form.get(name)?.trim() ?? '');
    const caller = { ...session, actor: actorOf(session, address) };
    await inTransaction(deps.db, (tx) => putBudget(tx, deps, caller, wanted));
  } catch (error) {
    const faults = faultsOf(error, BUDGET_FIELDS);
    if (!faults) throw error;
    return budgetsPage(call, faults, 400);
  }
  deps.events.wake(session.tenant);
  return done('/console/budgets', 'The budget is saved.');
}

export async function showBudgetDeletion({ deps, session, params }: SessionCall): Promise<Answer> {
  const { id, hard } = await getBudget(deps.db, session.tenant, params.id ?? '');
  const body = html`<h1>Delete the budget ${named(id)}</h1>
<p>${hard ? 'It refuses nothing more from that moment on' : 'It tells nothing more'}, and what it has spent is forgotten.</p>
<form method="post" action="/console/budgets/${id}/delete">
<p class="actions"><button class="danger">Delete the budget</button> <a class="button" href="/console/budgets">Cancel</a></p></form>`;
  return page({ title: 'Delete a budget', body, layout: 'narrow' });
}

export async function submitBudgetDeletion({ deps, session, params, address }: SessionCall): Promise<Answer> {
  const caller = { tenant: session.tenant, actor: actorOf(session, address) };
  await inTransaction(deps.db, (tx) => deleteBudget(tx, caller, params.id ?? ''));
  return done('/console/budgets', 'The budget is deleted.');
}

function parseBudget(textOf: (name: string) => string): WantedBudget {
  const { key, limit, kind, alerts, ...read } = readFields({
    id: () => parseMatching('id', textOf('id'), BUDGET_ID_PATTERN, WRONG_ID),
    key: () => parseOptional('key', textOf('key'), KEY_ID_PATTERN, 'must be the id of a key'),
    room: () => parseOptional('room', textOf('room'), ROOM_PATTERN_PATTERN, 'must be a name or a pattern'),
    customer: () => parseCustomer(textOf('customer')),
    period: () => parseChoice('period', textOf('period'), PERIODS),
    limit: () => parseMicros('limit', textOf('limit')),
    kind: () => parseChoice('kind', textOf('kind'), KINDS),
    alerts: () => parseShares(textOf('alerts')),
  });
  return { ...read, keyId: key, max: limit, hard: kind === 'hard', shares: alerts };
}

function parseMatching(name: string, text: string, pattern: string, otherwise: string): string {
  if (!new RegExp(pattern).test(text)) throw invalidField(name, otherwise);
  return text;
}

function parseOptional(name: string, text: string, pattern: string, otherwise: string): string | null {
  return text === '' ? null : parseMatching(name, text, pattern, otherwise);
}

function parseShares(text: string): number[] {
  const shares = [...new Set(text.split(/[\s,%]+/).filter(Boolean))].map(Number);
  if (
    shares.length > SHARES_MAX ||
    !shares.every((each) => Number.isInteger(each) && each >= 1 && each <= SHARE_MAX)
  )
    throw invalidField('alerts', `must be up to ${SHARES_MAX} percentages from 1 to ${SHARE_MAX}`);
  return shares.toSorted((a, b) => a - b);
}

async function budgetsPage(call: SessionCall, faults: Faults, status = 200): Promise<Answer> {
  const { deps, session } = call;
  const budgets = await getBudgets(deps.db, session.tenant);
  const mayChange = mayDo(session.role, 'change_budgets');
  const changesNow = mayChange && session.isFresh;
  const changed = budgets.find(({ id }) => id === call.query.get('change'));
  const body = html`<h1>Budgets</h1>
${mayChange && freshNote(session, 'To change budgets', '/console/budgets')}
${
  budgets.length === 0
    ? emptyState(
        'There is no budget.',
        'A hard budget refuses sessions that could cost more than is left of it.',
      )
    : budgetsTable(budgets, changesNow ? renderActions : undefined)
}
${changesNow && renderForm((name) => call.form.get(name) ?? (changed && fieldsOf(changed)[name]), faults)}`;
  return page({ title: 'Budgets', body }, status);
}

function renderActions({ id }: Budget): Html {
  return html`<a class="button" href="/console/budgets?change=${id}#id">Change<span class="hidden"> ${id}</span></a>
<a class="button" href="/console/budgets/${id}/delete">Delete<span class="hidden"> ${id}</span></a>`;
}

/** What the form has of a budget that exists. */
function fieldsOf(budget: Budget): Readonly<Record<BudgetField, string>> {
  const { id, keyId, room, customer, period, max, hard, shares } = budget;
  return {
    ...{ id, key: keyId ?? '', room: room ?? '', customer: customer ?? '', period },
    limit: plainDollars(max).replace(/0{4}$/, ''),
    kind: hard ? 'hard' : 'soft',
    alerts: shares.join(', '),
  };
}

function renderForm(filled: (name: BudgetField) => string | undefined, faults: Faults): Html {
  const text = (name: BudgetField, label: string, hint?: string) =>
    field({ name, label, hint, value: filled(name), faults, input: html`autocomplete="off"` });
  return html`<section class="card"><h2>Make or change a budget</h2><form method="post" action="/console/budgets" novalidate>
${text('id', 'Name', 'Such as acme-monthly. If it exists, its limit, kind and percentages change. What it covers and its period cannot.')}
${text('customer', 'Customer', 'Only tokens that were minted for this customer. Empty: all.')}
${text('room', 'Rooms', 'Only these: a name, or a pattern such as class-*. Empty: all.')}
${text('key', 'Key', 'Only tokens that the key or device credential with this id asked for. Empty: all.')}
${select(
  'period',
  'Period',
  PERIODS.map((value) => ({ value, text: PERIOD_TEXTS[value] })),
  filled('period') ?? 'month',
  faults,
)}
${text('limit', 'Limit in dollars')}
${select(
  'kind',
  'Kind',
  [
    { value: 'hard', text: 'Hard: refuse what does not fit' },
    { value: 'soft', text: 'Soft: only tell' },
  ],
  filled('kind') ?? 'hard',
  faults,
)}
${text('alerts', 'Tell at these percentages', 'Such as 50, 80, 100.')}
<p><button class="primary">Save</button></p></form></section>`;
}

/** A statement as a page to read and to print. It has no script, and loads nothing. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { inlineSheet } from '@boxoffice/pages/style-sheet';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { displayMicros } from '../../money/amount.ts';
import { endOf, type Month } from '../../money/month.ts';
import { type BillingDetails, renderDetails } from '../../money/statements/billing-details.ts';
import {
  hasGrants,
  isOfUtc,
  type Movement,
  type MovementKind,
  type Movements,
  type Statement,
  spentOfGrants,
} from '../../money/statements/statement.ts';
import { digestOf } from '../../money/statements/statement-document.ts';
import type { Measures } from '../../money/usage/usage-summary.ts';
import { STATEMENT_KEYS_PATH } from './jwks.ts';
import { STATEMENT_STYLE } from './statement-style.ts';

const { element: STYLE, policy } = inlineSheet(STATEMENT_STYLE);

/** `Content-Security-Policy` of the page. */
export const STATEMENT_PAGE_POLICY = policy;

export function renderStatementPage(statement: Statement): string {
  const { title, content } = renderStatement(statement);
  const body = html`<main>
${content}
</main>`;
  return renderDocument({ title: `${title}, ${statement.tenant.name}`, head: STYLE, body });
}

/** What is in the statement, for `STATEMENT_STYLE` or `STATEMENT_CARD_STYLE`. */
export function renderStatement(statement: Statement): { readonly title: string; readonly content: Html } {
  const { month, issuer, soFar } = statement;
  const title = `Statement for ${nameOf(month)}${soFar ? ', so far' : ''}`;
  const content = html`<header>
<h1><span>${new URL(issuer).host}</span>${title}</h1>
${renderFacts(statement)}
</header>
${renderParties(statement)}${renderSummary(statement)}
${renderMovements('Payments', PAYMENT_COLUMNS, statement.payments)}
${renderMovements('Reversals', REVERSAL_COLUMNS, statement.reversals)}
${renderMovements('Adjustments', REASON_COLUMNS, statement.adjustments)}
${hasGrants(statement) && renderGrants(statement)}
${renderUsage(statement)}
${renderFooter(statement)}`;
  return { title, content };
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

function nameOf(month: Month): string {
  const [year = '', number = ''] = month.split('-');
  return `${MONTHS[Number(number) - 1]} ${year}`;
}

function renderFacts(statement: Statement): Html {
  const { tenant, month, zone, from, to } = statement;
  const lastDay = new Date(endOf(month).getTime() - 1).getUTCDate();
  return html`<dl>
<dt>Tenant</dt><dd>${tenant.name}</dd>
<dt>Id</dt><dd>${renderTenantId(tenant.id)}</dd>
<dt>Period</dt><dd>1 to ${lastDay} ${nameOf(month)}, ${zone}</dd>
${
  !isOfUtc(statement) &&
  html`<dt>In UTC</dt><dd>${renderTime(from)} to ${renderTime(to)}</dd>
`
}<dt>Currency</dt><dd>US dollars</dd>
</dl>`;
}

/** Without details, the facts say all. */
function renderParties({ issuer, issuerDetails, tenant }: Statement): Html | undefined {
  const parties = [
    renderParty('Issued by', new URL(issuer).host, issuerDetails),
    renderParty('Issued to', tenant.name, tenant.details),
  ].filter((party) => party !== undefined);
  return parties.length > 0 ? html`<div class="parties">${parties}</div>\n` : undefined;
}

function renderParty(title: string, usualName: string, details: BillingDetails): Html | undefined {
  if (!renderDetails(details)) return undefined;
  const { name = usualName, address, taxId } = details;
  const lines = [name, ...address, ...(taxId === undefined ? [] : [`Tax id ${taxId}`])];
  return html`<section><h2>${title}</h2>
<address>${lines.map((line) => html`<div>${line}</div>`)}</address></section>`;
}

function renderSummary(statement: Statement): Html {
  const { opening, payments, reversals, adjustments, grants, usage, closing, month, soFar } = statement;
  const line = (name: string, amount: bigint) =>
    html`<tr><th scope="row">${name}</th><td class="number">${money(amount)}</td></tr>\n`;
  return html`<h2 id="summary">Summary</h2>
<table aria-labelledby="summary">
<thead class="hidden"><tr><th scope="col">What</th><th scope="col">Amount</th></tr></thead>
<tbody>
${line(`Balance on 1 ${nameOf(month)}`, opening)}${line('Payments', payments.sum)}${line('Reversals', reversals.sum)}${line(
  'Adjustments',
  adjustments.sum,
)}${hasGrants(statement) && line('Grants', grants.sum)}${line('Usage', -usage.sum.amount)}</tbody>
<tfoot>
<tr class="sum"><th scope="row">${soFar ? 'Balance now' : `Balance at the end of ${nameOf(month)}`}</th><td class="number">${money(closing)}</td></tr>
</tfoot>
</table>`;
}

interface Column<T> {
  readonly name: string;
  /** `number` is set to the right; neither is broken into lines. */
  readonly form?: 'number' | 'word';
  readonly of: (row: T) => HtmlValue;
}

const KINDS: Readonly<Record<MovementKind, string>> = {
  top_up: 'Payment',
  auto_top_up: 'Automatic top-up',
  refund: 'Refund',
  dispute: 'Dispute',
  adjustment: 'Adjustment',
  correction: 'Correction of usage',
  grant: 'Granted',
  grant_expired: 'Expired',
  grant_voided: 'Voided',
};

const TIME: Column<Movement> = { name: 'Time (UTC)', of: ({ at }) => renderTime(at) };
const KIND: Column<Movement> = { name: 'Kind', form: 'word', of: ({ kind }) => KINDS[kind] };
const REFERENCE: Column<Movement> = { name: 'Reference', of: ({ reference }) => reference };
const AMOUNT: Column<Movement> = { name: 'Amount', form: 'number', of: ({ amount }) => money(amount) };

const PAYMENT_COLUMNS = [TIME, KIND, REFERENCE, AMOUNT];
const REVERSAL_COLUMNS = [
  TIME,
  KIND,
  REFERENCE,
  { name: 'Of payment', of: ({ payment }: Movement) => payment },
  AMOUNT,
];
/** For what the operator gave or took. */
const REASON_COLUMNS = [
  TIME,
  KIND,
  { name: 'Reason', of: ({ detail }: Movement) => detail },
  REFERENCE,
  AMOUNT,
];

function renderGrants(statement: Statement): Html {
  const { grants, granted, soFar } = statement;
  return html`${renderMovements('Grants', REASON_COLUMNS, grants)}
<p class="note">Of the balance, ${money(granted.opening)} was granted at the start of the month, and ${money(granted.closing)}
${soFar ? 'is now' : 'at its end'}. ${money(spentOfGrants(statement))} of granted credit was spent.</p>`;
}

function renderMovements(title: string, columns: readonly Column<Movement>[], movements: Movements): Html {
  const { entries, others, sum } = movements;
  const words = title.toLowerCase();
  const span = columns.length - 1;
  return renderSection(title, {
    columns,
    rows: entries,
    further:
      others &&
      html`<tr><th scope="row" colspan="${span}">${grouped(others.count)} further ${words}</th><td class="number">${money(others.sum)}</td></tr>`,
    sum: html`<tr class="sum"><th scope="row" colspan="${span}">All ${words}</th><td class="number">${money(sum)}</td></tr>`,
    note:
      others &&
      `The first ${grouped(BigInt(entries.length))} ${words} are listed. The others are added up in one line; the ledger has each of them.`,
  });
}

const UNBILLED: Column<Measures> = {
  name: 'Unbilled',
  form: 'number',
  of: ({ unbilled }) => money(unbilled),
};

const USAGE_COLUMNS: readonly Column<Measures>[] = [
  { name: 'Records', form: 'number', of: ({ records }) => grouped(records) },
  { name: 'Minutes', form: 'number', of: ({ seconds }) => decimal(seconds, 60n, 2) },
  { name: 'GiB sent', form: 'number', of: ({ egressBytes }) => decimal(egressBytes, 2n ** 30n, 3) },
  UNBILLED,
  { name: 'Cost', form: 'number', of: ({ amount }) => money(amount) },
];

function renderUsage({ usage: { rooms, others, sum } }: Statement): Html {
  const columns = USAGE_COLUMNS.filter((column) => column !== UNBILLED || sum.unbilled > 0n);
  const row = (name: HtmlValue, measures: Measures, kind?: string) =>
    html`<tr${kind && html` class="${kind}"`}><th scope="row">${name}</th>${columns.map((each) => renderCell(each, measures))}</tr>`;
  const notes = [
    others &&
      `The ${rooms.length} most expensive rooms are listed. The others are added up in one line; the sums of usage have each of them.`,
    sum.unbilled > 0n &&
      'Unbilled usage is what would have been charged if the tenant had not been exempt. It cost nothing.',
  ];
  return renderSection('Usage by room', {
    columns: [
      { name: 'Room', of: ({ room }: (typeof rooms)[number]) => room || 'Without a room' },
      ...columns,
    ],
    rows: rooms,
    further: others && row(`${grouped(others.rooms)} further rooms`, others),
    sum: row('All rooms', sum, 'sum'),
    note: notes.filter(Boolean).join(' ') || undefined,
  });
}

interface Section<T> {
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  /** One row for all that are not listed. */
  readonly further: Html | undefined;
  readonly sum: Html;
  readonly note: string | undefined;
}

function renderSection<T>(title: string, { columns, rows, further, sum, note }: Section<T>): Html {
  const id = title.toLowerCase().replaceAll(' ', '-');
  const heading = html`<h2 id="${id}">${title}</h2>`;
  if (rows.length === 0) return html`${heading}\n<p class="note">None.</p>`;
  const [first, ...others] = columns;
  return html`${heading}
<table class="wide" aria-labelledby="${id}">
<thead><tr>${columns.map(({ name, form }) => html`<th scope="col"${form && html` class="${form}"`}>${name}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr><th scope="row">${first?.of(row)}</th>${others.map((each) => renderCell(each, row))}</tr>\n`)}${further}
</tbody>
<tfoot>
${sum}
</tfoot>
</table>
${note && html`<p class="note">${note}</p>`}`;
}

/** The label is for screens on which a row does not fit into one line. */
function renderCell<T>({ name, form, of }: Column<T>, row: T): Html {
  return html`<td${form && html` class="${form}"`} data-label="${name}">${of(row)}</td>`;
}

function renderFooter(statement: Statement): Html {
  const { issuer, month, soFar } = statement;
  if (soFar) {
    return html`<footer>
<p>${nameOf(month)} is not over, so these figures still change, and they are not signed.</p>
</footer>`;
  }
  return html`<footer>
<p>This page shows the signed statement that <code>GET ${issuer}/v1/statements/${month}</code> answers. The SHA-256 digest of
its text is <code>${digestOf(statement)}</code>. The keys that verify it are at
<code>${issuer}${STATEMENT_KEYS_PATH}</code>.</p>
</footer>`;
}

/** The script of the console leaves it in UTC. */
function renderTime(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}" data-utc>${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

function money(micros: bigint): string {
  return grouped(displayMicros(micros));
}

/** `size / unit` with so many decimals, rounded half up. */
function decimal(size: bigint, unit: bigint, decimals: number): string {
  const scale = 10n ** BigInt(decimals);
  const scaled = (size * scale * 2n + unit) / (unit * 2n);
  return `${grouped(scaled / scale)}.${(scaled % scale).toString().padStart(decimals, '0')}`;
}

/** With a comma before each three digits of the whole number. */
function grouped(number: bigint | string): string {
  return String(number).replace(/(?<![.\d]\d*)\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

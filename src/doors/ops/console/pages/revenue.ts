/** `/console/revenue`: credit at the start and at the end of a month, and what changed it. */
import { type Html, html } from '@boxoffice/pages/html';
import { invalidField } from '../../../../base/failure.ts';
import { type Month, monthOf, parseMonth } from '../../../../money/month.ts';
import { type Credit, type RevenueReport, reportRevenue } from '../../../../money/reports/report-revenue.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { exact, type Faults, field, timeOf } from '../../../consoles/components.ts';
import { readFields, readOrFaults } from '../../../consoles/read-fields.ts';
import { table } from '../../../consoles/table.ts';
import type { LoggedInCall } from '../route.ts';

export async function showRevenue({ deps, door, query }: LoggedInCall): Promise<Answer> {
  const { value, faults } = readOrFaults(() => readFields({ month: () => monthIn(query.get('month')) }));
  if (faults) {
    const filter = renderFilter(query.get('month'), faults);
    return page({ title: 'Revenue', body: html`<h1>Revenue</h1>${filter}` }, 400);
  }
  const { month } = value;
  const report = await reportRevenue(deps.db, month, undefined, door.stopping);
  const body = html`<h1>Revenue</h1>
${renderFilter(month, {})}
<p>${report.soFar ? html`So far, at ${timeOf(report.asOf)}. ` : ''}From the ledger alone, in one state of it.</p>
${table(
  `Credit of all tenants in ${month}`,
  ['What', 'Amount'],
  linesOf(report).map(([name, amount]) => [name, exact(amount)]),
  { numbers: ['Amount'] },
)}
<p class="hint">Credit that was paid and not used is a liability. It becomes revenue when usage is charged. The payouts of the provider
are compared by <code>npm run admin -- report payouts</code>.</p>`;
  return page({ title: 'Revenue', body });
}

function renderFilter(month: string | undefined, faults: Faults): Html {
  return html`<form class="filters" method="get" action="/console/revenue" novalidate>
${field({ name: 'month', label: 'Month (UTC)', value: month, input: html`type="month"`, faults })}
<button>Show</button></form>`;
}

/** Without one, that of today. Fails with `invalid_request`. */
function monthIn(text: string | undefined): Month {
  const month = text === undefined || text === '' ? monthOf(new Date()) : parseMonth(text);
  if (!month) throw invalidField('month', 'must be a month, such as 2026-10');
  return month;
}

function linesOf(report: RevenueReport): readonly (readonly [string, bigint])[] {
  const credit = (when: string, { total, unused, owed, granted }: Credit) =>
    [
      [`Credit ${when}`, total],
      ['– of it unused, a liability', unused],
      ['– of it owed, a receivable', owed],
      ['– of it granted, not paid', granted],
    ] as const;
  return [
    ...credit('at the start', report.opening),
    ['Payments', report.payments],
    ['Usage, which is revenue', report.usage],
    ['– of it paid by grants, which is none', report.paidByGrants],
    ['Refunds', report.refunds],
    ['Disputes', report.disputes],
    ['Adjustments', report.adjustments],
    ['Corrections of usage', report.corrections],
    ['Grants', report.grants],
    ['Grants that expired or were voided', report.grantsEnded],
    ...credit('at the end', report.closing),
    ['Not billed, of exempt tenants', report.unbilled],
  ];
}

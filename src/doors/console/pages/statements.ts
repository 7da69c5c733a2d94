/** `/console/statements`: the account of each month, to look at and to keep. */
import { html } from '@boxoffice/pages/html';
import { notFound } from '../../../base/failure.ts';
import { getCalendar } from '../../../money/calendar/get-calendar.ts';
import { parseMonth } from '../../../money/month.ts';
import { buildStatement } from '../../../money/statements/build-statement.ts';
import { listStatements } from '../../../money/statements/list-statements.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { emptyState, exact, monthText } from '../../consoles/components.ts';
import { csvLinks, separatorOf } from '../../consoles/csv-links.ts';
import { table } from '../../consoles/table.ts';
import { renderStatementCsv } from '../../http/statement-csv.ts';
import { renderStatement } from '../../http/statement-page.ts';
import type { SessionCall } from '../route.ts';

/** The style of a statement is loaded here alone. */
const loadAssets = () => import('../../consoles/assets/statement-assets.ts');

export async function showStatements({ deps, session }: SessionCall): Promise<Answer> {
  const statements = await listStatements(deps.db, session.tenant);
  const calendar = await getCalendar(deps.db, session.tenant);
  const now = new Date();
  const soFar = `/console/statements/${calendar.monthOf(now)}`;
  const body = html`<h1>Statements</h1>
<p><a href="${soFar}">This month so far</a> · ${csvLinks(`${soFar}/csv`, 'This month')} · <a href="/console/billing-details">Billing details and time zone</a> · <a href="/console/spend?every=month">Spend by month</a></p>
${
  statements.length === 0
    ? emptyState(
        'No month is over yet.',
        'Each month in which something changed your balance gets a statement, signed and final.',
      )
    : table(
        'Statements',
        ['Month', 'At its start', 'At its end', 'Spreadsheet'],
        statements.map(({ month, opening, closing }) => [
          html`<a href="/console/statements/${month}">${monthText(month, now)}</a>`,
          exact(opening),
          exact(closing),
          csvLinks(`/console/statements/${month}/csv`, monthText(month, now)),
        ]),
        { numbers: ['At its start', 'At its end'], names: 'Month' },
      )
}`;
  return page({ title: 'Statements', body });
}

export async function showStatement(call: SessionCall): Promise<Answer> {
  const statement = await find(call);
  const { title, content } = renderStatement(statement);
  const { STATEMENT_STYLE_ASSET } = await loadAssets();
  const body = html`<p class="actions"><a href="/console/statements">All statements</a> <span>${csvLinks(`/console/statements/${statement.month}/csv`, 'This statement')}</span>
<button type="button" data-print hidden>Print</button><noscript><span class="hint">To print it, use the menu of your browser.</span></noscript></p>
<div class="statement">${content}</div>`;
  return page({ title, body, style: STATEMENT_STYLE_ASSET.path });
}

export async function sendStatement(call: SessionCall): Promise<Answer> {
  const separator = separatorOf(call.query);
  const statement = await find(call);
  const saveAs = `statement-${statement.month}${statement.soFar ? '-so-far' : ''}.csv`;
  return {
    kind: 'file',
    type: 'text/csv; charset=utf-8',
    body: renderStatementCsv(statement, separator),
    saveAs,
  };
}

async function find({ deps, session, params }: SessionCall) {
  const month = parseMonth(params.month ?? '');
  if (!month) throw notFound('statement');
  return buildStatement(deps, session.tenant, month, { soFar: true });
}

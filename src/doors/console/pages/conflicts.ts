/** `/console/conflicts`: ids that relays reported again with other values. Only the first report was charged. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Conflict } from '../../../money/usage/conflict.ts';
import { listConflicts } from '../../../money/usage/list-conflicts.ts';
import { parseConflictPlace, renderConflictPlace } from '../../http/conflict-place.ts';
import { type Answer, page } from '../../pages/answer.ts';
import { emptyState, named, scrolling, timeOf } from '../../pages/components.ts';
import { describeConflict } from '../../pages/describe-conflict.ts';
import type { SessionCall } from '../route.ts';

const PAGE_SIZE = 50;

export async function showConflicts({ deps, session, query }: SessionCall): Promise<Answer> {
  const { tenant } = session;
  const after = parseConflictPlace(query.get('cursor'), tenant);
  const { conflicts, place } = await listConflicts(deps.db, tenant, { after, size: PAGE_SIZE });
  const next = place && encodeURIComponent(renderConflictPlace(tenant, place));
  const body = html`<h1>Conflicts</h1>
<p>Ids that came again with other values. Only the first report of an id is charged. Usually a relay uses ids twice: then your figures
lack what it reported later.</p>
${
  conflicts.length > 0
    ? renderConflicts(conflicts)
    : emptyState('There are none.', 'Every id was reported with one set of values.')
}
<p class="pages">${after && html`<a href="/console/conflicts">Newest</a>`}${
    next !== undefined && html`<a href="/console/conflicts?cursor=${next}" rel="next">Older conflicts</a>`
  }</p>`;
  return page({ title: 'Conflicts', body });
}

function renderConflicts(conflicts: readonly Conflict[]): Html {
  return scrolling(
    'Conflicts',
    html`<table class="rows"><caption class="hidden">Conflicts, the newest first</caption>
<thead><tr><th scope="col">Record</th><th scope="col">First</th><th scope="col">Last</th>
<th scope="col">Charged, then reported</th><th scope="col" class="number">Times</th></tr></thead>
<tbody>${conflicts.map(renderConflict)}</tbody></table>`,
  );
}

function renderConflict(conflict: Conflict): Html {
  const { id, firstAt, lastAt, times } = conflict;
  return html`<tr><th scope="row" data-label="Record"><a href="/console/charge?id=${encodeURIComponent(id)}">${named(id)}<span class="hidden">: explain its charge</span></a></th>
<td data-label="First">${timeOf(firstAt)}</td><td data-label="Last">${timeOf(lastAt)}</td>
<td data-label="Charged, then reported">${named(describeConflict(conflict))}</td><td class="number" data-label="Times">${times}</td></tr>`;
}

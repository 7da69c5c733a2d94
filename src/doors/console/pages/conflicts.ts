/** `/console/conflicts`: ids that relays reported again with other values. Only the first report was charged. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Conflict } from '../../../money/usage/conflict.ts';
import { listConflicts } from '../../../money/usage/list-conflicts.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { emptyState, named, timeOf } from '../../consoles/components.ts';
import { describeConflict } from '../../consoles/describe-conflict.ts';
import { table } from '../../consoles/table.ts';
import { parseConflictPlace, renderConflictPlace } from '../../http/conflict-place.ts';
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
  return table(
    'Conflicts, the newest first',
    ['Record', 'First', 'Last', 'Charged, then reported', 'Times'],
    conflicts.map((conflict) => [
      html`<a href="/console/charge?id=${encodeURIComponent(conflict.id)}">${named(conflict.id)}<span class="hidden">: explain its charge</span></a>`,
      timeOf(conflict.firstAt),
      timeOf(conflict.lastAt),
      named(describeConflict(conflict)),
      conflict.times,
    ]),
    { numbers: ['Times'], names: 'Record' },
  );
}

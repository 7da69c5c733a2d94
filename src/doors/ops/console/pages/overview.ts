/** `/console`: whether everything is well: the service, the money, what waits. */
import { type Html, html } from '@boxoffice/pages/html';
import { getOverview, type Overview } from '../../../../access/operators/get-overview.ts';
import type { DatabaseServer } from '../../../../base/db/away-servers.ts';
import { getHealth, listServers } from '../../../../outward/health/get-health.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { badge, dollars, grouped, timeOf } from '../../../consoles/components.ts';
import { table } from '../../../consoles/table.ts';
import { type Check, judge, judgeServers } from '../health.ts';
import type { LoggedInCall } from '../route.ts';

/** A listener that is further behind is worth a look. */
const SLOW_SECONDS = 60;
/** No comparison with the provider for so long. */
const OLD_COMPARISON_SECONDS = 7_500;

export async function showOverview({ deps, door }: LoggedInCall): Promise<Answer> {
  const servers = await listServers(deps.db);
  if (servers.some(({ awaySeconds }) => awaySeconds !== null)) return showAway(servers);
  const fault = await door.findFault();
  const { tenants, parked, drift, archive, lags, card, signing } = await getOverview(deps.db);
  const checks = judge({
    ...(await getHealth(deps.db)),
    ...{ lags, drift, parked },
    servers,
    hasProvider: deps.provider !== undefined,
    metrics: await door.readMetrics(),
  });
  const all = tenants.reduce((sum, each) => sum + each.tenants, 0n);
  const body = html`<h1>Overview</h1>
<div class="cards">
<section class="card"><p class="label">The service</p><p class="figure">${fault === undefined ? 'ready' : 'not ready'}</p>
<p class="hint">${fault ?? 'Balances agree with their ledgers, as far as the watch has come.'}</p></section>
<section class="card"><p class="label">Tenants</p><p class="figure">${all}</p>
<p class="hint"><a href="/console/tenants">Look at them</a></p></section>
<section class="card"><p class="label">Parked payments</p><p class="figure">${parked.parked}</p>
<p class="hint">${parked.failing} more are tried again. <a href="/console/payments">Payments</a></p></section>
<section class="card"><p class="label">Differences from the provider</p><p class="figure">${drift?.differences ?? '–'}</p>
<p class="hint">${describeDrift(drift)}</p></section>
</div>
<h2>Health</h2>
${renderHealth(checks)}
${table(
  'Tenants by status',
  ['Status', 'Tenants', 'Sum of balances'],
  tenants.map((each) => [
    html`<a href="/console/tenants?status=${each.status}">${each.status}</a>`,
    each.tenants,
    dollars(each.balance),
  ]),
  { numbers: ['Tenants', 'Sum of balances'] },
)}
<h2>Usage records</h2>
${renderArchive(archive)}
<h2>Listeners</h2>
${renderLags(lags)}
<p class="hint">${card && html`Rate card ${card.version} prices since ${timeOf(card.effectiveAt)}. `}${
    signing?.activatedAt &&
    html`Tokens are signed by <code>${signing.kid}</code> since ${timeOf(signing.activatedAt)}.`
  }</p>`;
  return page({ title: 'Overview', body });
}

/** The rest of the page asks all servers. */
function showAway(servers: readonly DatabaseServer[]): Answer {
  const body = html`<h1>Overview</h1>
<h2>Health</h2>
${renderHealth([judgeServers(servers)])}
<p class="hint">The rest of this page needs all servers, and is shown when they answer.</p>`;
  return page({ title: 'Overview', body });
}

const LOOK_TEXTS = { good: 'good', warn: 'look at it', bad: 'act now' } as const;

function renderHealth(checks: readonly Check[]): Html {
  return table(
    'Whether each part is well',
    ['Part', 'State', 'Now', 'What to do'],
    checks.map(({ name, look, figures, advice }) => [
      name,
      badge(LOOK_TEXTS[look], look),
      figures,
      advice ? html`<span class="advice">${advice}</span>` : '–',
    ]),
    { names: 'Part' },
  );
}

function describeDrift(drift: Overview['drift']): string {
  if (!drift) return 'They were never compared.';
  const minutes = Math.floor(drift.ageSeconds / 60);
  const isOld = drift.ageSeconds > OLD_COMPARISON_SECONDS;
  return `Compared ${minutes} minutes ago.${isOld ? ' No comparison has succeeded since.' : ''}`;
}

function renderArchive({
  rows,
  archived,
  rowBytes,
  archivedBytes,
  oldestSeconds,
}: Overview['archive']): Html {
  const cellsOf = (store: string, records: number | null, bytes: number) => [
    store,
    records === null ? 'not counted' : grouped(`${records}`),
    grouped(`${Math.ceil(bytes / 2 ** 20)}`),
    records ? Math.round(bytes / records) : '–',
  ];
  return html`${table(
    'Where usage records are',
    ['Store', 'Records', 'MB', 'Bytes a record'],
    [cellsOf('rows, about', rows, rowBytes), cellsOf('archive', archived, archivedBytes)],
    { numbers: ['Records', 'MB', 'Bytes a record'] },
  )}
<p class="hint">${
    oldestSeconds > 0
      ? html`The oldest record outside of the archive is ${Math.floor(oldestSeconds / 3600)} hours old.`
      : 'No record waits outside of the archive.'
  } How many moved, and how fast: <code>boxoffice_archived_records_total</code> of /metrics.</p>`;
}

function renderLags(lags: Overview['lags']): Html {
  return table(
    'How far each listener is behind',
    ['Listener', 'State', 'Events that wait', 'Seconds behind'],
    lags.map(({ listener, events, seconds }) => [
      listener,
      seconds > SLOW_SECONDS ? badge('behind', 'warn') : badge('up to date', 'good'),
      events,
      Math.floor(seconds),
    ]),
    { numbers: ['Events that wait', 'Seconds behind'] },
  );
}

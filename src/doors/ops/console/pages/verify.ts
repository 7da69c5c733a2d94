/** `/console/verify`: add everything up again, in the background, and see how far it is. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { listVerifications, startVerification } from '../../../../money/verification/run-verification.ts';
import type { Verification } from '../../../../money/verification/verification.ts';
import { type Answer, page, redirect } from '../../../consoles/answer.ts';
import { badge, countOf, emptyState, named, timeOf } from '../../../consoles/components.ts';
import { table } from '../../../consoles/table.ts';
import type { LoggedInCall } from '../route.ts';

const RUNS_SHOWN = 20;
const AGAIN_SECONDS = 2;

export async function showVerify({ deps }: LoggedInCall): Promise<Answer> {
  const runs = await listVerifications(deps.db, RUNS_SHOWN);
  const [newest] = runs;
  const goesOn = newest !== undefined && newest.finishedAt === null;
  const body = html`<h1>Verify</h1>
<p>Adds everything up again and compares: balances, chains, records, payments, carries, sums of usage, alerts, and every charge. It reads
one state of the database, beside the service, and may take long.</p>
<div id="verification"${goesOn && html` data-again="/console/verify"`}>
<div role="status">
${goesOn ? renderProgress(newest) : html`<form method="post" action="/console/verify"><p><button class="primary">Verify now</button></p></form>`}
${newest && !goesOn && renderResult(newest)}
</div>
${renderRuns(runs)}
</div>
<p class="hint">To compare with the payment provider too: <code>npm run admin -- verify --payments</code></p>`;
  return page({ title: 'Verify', body, ...(goesOn && { reloadSeconds: AGAIN_SECONDS }) });
}

function renderProgress({ step, done, total }: Verification): Html {
  return html`<p class="note">It goes on: ${step === '' ? 'it begins' : step}.</p>
<p><label for="progress">Charges computed again</label>
<progress id="progress" max="${total === 0n ? 1n : total}" value="${done}"></progress> ${done} of ${total}</p>`;
}

function renderResult({ differences, shown, error, finishedAt, done }: Verification): Html | undefined {
  if (error !== null) return html`<p class="alert">The last one did not end: ${error}.</p>`;
  if (differences === 0) {
    return html`<p class="done">Nothing differs in ${countOf(done, 'record')}, ${finishedAt && timeOf(finishedAt)}.</p>`;
  }
  return html`<p class="alert">${countOf(differences ?? 0, 'difference')} in ${countOf(done, 'record')}. <strong>Stop traffic, and look into them.</strong></p>
${table(
  'The first differences',
  ['Tenant', 'What', 'Expected', 'Found'],
  (shown ?? []).map((each) => [
    html`<a href="/console/tenants/${each.tenant}"><code>${each.tenant}</code></a>`,
    named(each.what),
    named(each.expected),
    named(each.found),
  ]),
)}`;
}

function renderRuns(runs: readonly Verification[]): Html {
  if (runs.length === 0)
    return emptyState('Nothing was verified here yet.', 'Do it before and after an upgrade.');
  return html`<h2>The last ones</h2>
${table(
  'Verifications, the newest first',
  ['Started', 'By', 'Ended', 'Records checked', 'Result'],
  runs.map((each) => [
    timeOf(each.startedAt),
    named(each.operator),
    each.finishedAt && timeOf(each.finishedAt),
    each.done,
    resultBadge(each),
  ]),
  { numbers: ['Records checked'] },
)}`;
}

function resultBadge({ finishedAt, differences, error }: Verification): Html {
  if (finishedAt === null) return badge('goes on');
  if (error !== null || differences === null) return badge('did not end', 'warn');
  return differences === 0
    ? badge('nothing differs', 'good')
    : badge(countOf(differences, 'difference'), 'bad');
}

/** A second click finds it under way, and shows it. */
export async function submitVerification({ deps, door, session }: LoggedInCall): Promise<Answer> {
  const started = await startVerification(deps, operatorOf(session), door.stopping);
  if (started) door.keep(started.ended);
  return redirect('/console/verify');
}

/** `/console/export`: everything that is stored about the tenant, as one file. */
import { html } from '@boxoffice/pages/html';
import { actorOf } from '../../../access/sessions/session.ts';
import { Failure } from '../../../base/failure.ts';
import { renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { openExport } from '../../../outward/export/open-export.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { alert, freshNote } from '../../consoles/components.ts';
import { sentence } from '../../consoles/notices.ts';
import type { SessionCall } from '../route.ts';

/** Exports of one process at once: each has a connection of its own to the database. Tenants that never paid leave half of them to the others. */
const EXPORTS_MAX = 4;
const EXPORTS_NEVER_PAID_MAX = 2;
/** The time limit of one export: while it runs, the database keeps old versions of all rows. */
const EXPORT_MS_MAX = 3_600_000;
/** One of each tenant: a second one takes no place. */
const running = { tenants: new Set<TenantId>(), neverPaid: 0 };
const EXPORT_RUNS = sentence(new Failure('export_running'));

export async function showExport(call: SessionCall): Promise<Answer> {
  return exportPage(call, undefined, 200);
}

export async function submitExport(call: SessionCall): Promise<Answer> {
  const { deps, session, address, closing } = call;
  if (running.tenants.has(session.tenant)) return exportPage(call, EXPORT_RUNS, 409);
  const leave = takePlace(session.tenant, session.tenantStatus === 'pending');
  try {
    const { pages, close } = await openExport(deps, actorOf(session, address), session.tenant, {
      isExclusive: true,
      stopping: AbortSignal.any([closing, AbortSignal.timeout(EXPORT_MS_MAX)]),
    });
    return {
      kind: 'download',
      type: 'application/x-ndjson; charset=utf-8',
      chunks: pages,
      saveAs: `${renderTenantId(session.tenant)}.ndjson`,
      close: () => close().finally(leave),
    };
  } catch (error) {
    leave();
    if (error instanceof Failure && error.kind === 'export_running')
      return exportPage(call, sentence(error), 409);
    throw error;
  }
}

/** Returns what gives the place back. */
function takePlace(tenant: TenantId, neverPaid: boolean): () => void {
  if (running.tenants.size >= EXPORTS_MAX || (neverPaid && running.neverPaid >= EXPORTS_NEVER_PAID_MAX)) {
    throw new Failure('overloaded');
  }
  running.tenants.add(tenant);
  if (neverPaid) running.neverPaid += 1;
  return () => {
    running.tenants.delete(tenant);
    if (neverPaid) running.neverPaid -= 1;
  };
}

async function exportPage({ session }: SessionCall, problem: string | undefined, status: number) {
  const body = html`<h1>Export</h1>
${alert(problem)}
<p>Everything that is stored about this tenant, as one file: settings, people, keys without their secrets, each entry of the ledger and
each usage record, rooms, moderation, events and the audit trail. Rows are of one moment.</p>
<p>Each line is a JSON object, with the name of its table in <code>table</code>. Amounts are in micro-dollars, times in UTC. The audit
trail notes who exported.</p>
${freshNote(session, 'To export', '/console/export')}
${
  session.isFresh &&
  html`<section class="card"><form method="post" action="/console/export"><p><button class="primary">Download everything</button></p></form>
<p class="hint">One export at a time. It takes as long as your connection needs for all usage records.</p></section>`
}
<p>What is stored about one participant is under <a href="/console/people">People</a>, and can be erased there. The ledger alone is
there as <a href="/console/ledger">CSV</a>.</p>`;
  return page({ title: 'Export', body }, status);
}

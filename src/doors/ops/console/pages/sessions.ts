/** `/console/sessions`: where an operator is logged in. `/console/tenants/t_.../sessions`: who is at a tenant's console. */
import { html } from '@boxoffice/pages/html';
import {
  endOwnOperatorSessions,
  listOwnOperatorSessions,
} from '../../../../access/operators/end-operator-session.ts';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { endSessionsOfTenant } from '../../../../access/sessions/end-session.ts';
import { listSessionsOfTenant } from '../../../../access/sessions/list-sessions.ts';
import { type Answer, done, page } from '../../../consoles/answer.ts';
import { named } from '../../../consoles/components.ts';
import { endAllForm, sessionTable } from '../../../consoles/session-table.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

const PATH = '/console/sessions';

export async function showSessions({ deps, session }: LoggedInCall): Promise<Answer> {
  const own = await listOwnOperatorSessions(deps, session);
  const lines = own.map((each) => ({ ...each, cells: [] }));
  const body = html`<h1>Sessions of ${named(session.operator)}</h1>
<p><code>npm run admin -- console operator --end</code> ends those of all operators.</p>
${sessionTable('Your sessions', [], lines, { current: session.id, endPath: `${PATH}/end` })}
${own.length > 1 && endAllForm(`${PATH}/end-others`, 'End all others')}`;
  return page({ title: 'Sessions', body });
}

export async function submitEnding({ deps, session, form }: LoggedInCall): Promise<Answer> {
  await endOwnOperatorSessions(deps, session, form.get('session') ?? '');
  return done(PATH, 'The session is ended.');
}

export async function submitEndingOthers({ deps, session }: LoggedInCall): Promise<Answer> {
  await endOwnOperatorSessions(deps, session);
  return done(PATH, 'All other sessions are ended.');
}

export async function showTenantSessions(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  const path = tenantPath(tenant);
  const found = await listSessionsOfTenant(call.deps, tenant.id);
  const lines = found.map((each) => ({
    ...each,
    cells: [
      html`<span>${each.email === null ? (each.keyId === null ? html`operator ${named(each.operator ?? '')}` : html`key <code>${each.keyId}</code>`) : named(each.email)}</span>`,
      each.proof,
    ],
  }));
  const body = html`<h1>Sessions at the console of ${named(tenant.name)}</h1>
${sessionTable('Its sessions', ['Whose', 'Proof'], lines, { current: undefined, endPath: `${path}/sessions/end` })}
${found.length > 0 && endAllForm(`${path}/sessions/end-all`, 'End all')}
<p><a href="${path}">Back to the tenant</a></p>`;
  return page({ title: 'Sessions of a tenant', body });
}

export async function submitTenantEnding(call: LoggedInCall): Promise<Answer> {
  return endOf(call, { id: call.form.get('session') ?? '' });
}

export async function submitTenantEndings(call: LoggedInCall): Promise<Answer> {
  return endOf(call, {});
}

async function endOf(call: LoggedInCall, which: { readonly id?: string }): Promise<Answer> {
  const tenant = await tenantOf(call);
  const actor = operatorOf(call.session);
  await endSessionsOfTenant(call.deps, { tenant: tenant.id }, { ...which, actor });
  return done(
    `${tenantPath(tenant)}/sessions`,
    which.id === undefined ? 'All sessions are ended.' : 'The session is ended.',
  );
}

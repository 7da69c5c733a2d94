/** `/console/tenants/t_.../members`: who may use the console of a tenant. */
import { html } from '@boxoffice/pages/html';
import { listMembers } from '../../../../access/members/list-members.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { named } from '../../../consoles/components.ts';
import { membersTable } from '../../../consoles/members-table.ts';
import { readNote } from '../read-note.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantOf } from './tenant.ts';

export async function showTenantMembers(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  const body = html`<h1>Members of ${named(tenant.name)}</h1>
${membersTable(await listMembers(call.deps, tenant.id))}
${readNote(tenant)}`;
  return page({ title: 'Members', body });
}

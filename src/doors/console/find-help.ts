/** Who can help with an error: owners with what the role may not, and the operator of the service with what is ours. */
import { type Html, html } from '@boxoffice/pages/html';
import { listMembers } from '../../access/members/list-members.ts';
import type { Session } from '../../access/sessions/session.ts';
import type { Failure } from '../../base/failure.ts';
import { named } from '../consoles/components.ts';
import type { Deps } from '../deps.ts';
import { STATUS } from '../http/status.ts';
import { whomToAsk } from './pages/closed.ts';

/** More would not be asked. */
const OWNERS_SHOWN = 3;

/** `requestId`: the operator finds it in the log. `failure`: none is an error of ours. */
export async function findHelp(
  deps: Deps,
  requestId: string,
  failure: Failure | undefined,
  session: Session | undefined,
): Promise<Html | undefined> {
  if (failure?.kind === 'permission_denied') return session && renderOwners(deps, session);
  const isOurs = failure === undefined || STATUS[failure.kind] >= 500 || failure.kind === 'quota_exceeded';
  return isOurs ? whomToAsk(deps.config.supportEmail, requestId) : undefined;
}

async function renderOwners(deps: Deps, { tenant, role }: Session): Promise<Html | undefined> {
  if (role === 'key')
    return html`<p>This session may do what its key may. Log in as a member for anything else.</p>`;
  if (role === 'owner') return undefined;
  const members = await listMembers(deps, tenant);
  const owners = members.filter((each) => each.role === 'owner' && each.joinedAt).slice(0, OWNERS_SHOWN);
  return html`<p>Your role here is ${role}. An owner can do it, or give you another role.</p>
${owners.length > 0 && html`<ul>${owners.map(({ email }) => html`<li>${named(email)}</li>`)}</ul>`}
<p><a href="/console/members">All members</a></p>`;
}

/** `/console/sessions`: where a person is logged in, and for owners where the others are. */
import { type HtmlValue, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { endOwnSessions, endSessionsOfTenant } from '../../../access/sessions/end-session.ts';
import {
  listOwnSessions,
  listSessionsOfTenant,
  SESSIONS_LISTED_MAX,
} from '../../../access/sessions/list-sessions.ts';
import { actorOf, type ListedSession, type Proof, type Session } from '../../../access/sessions/session.ts';
import { Failure } from '../../../base/failure.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { freshNote, named } from '../../consoles/components.ts';
import { endAllForm, sessionTable } from '../../consoles/session-table.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/sessions';

const PROOF_WORDS: Readonly<Record<Proof, string>> = {
  signup: 'signup',
  mail: 'a link by mail',
  passkey: 'a passkey',
  oidc: 'the issuer',
  key: 'an API key',
  operator: 'a link of an operator',
};

export async function showSessions({ deps, session }: SessionCall): Promise<Answer> {
  const own = await listOwnSessions(deps, session);
  const ofTenant = maySeeOthers(session) ? await listSessionsOfTenant(deps, session.tenant) : [];
  const known = new Set(own.map(({ id }) => id));
  const others = ofTenant.filter(({ id }) => !known.has(id));
  const lines = own.map((each) => ({ ...each, cells: [named(each.tenantName), PROOF_WORDS[each.proof]] }));
  const body = html`<h1>Sessions</h1>
<p>Where you are logged in. A session ends with a log-out, after some time without use, or here. The audit trail has each log-in, each
log-out and each end from this page. A session also ends when its member, key or passkey is removed, and when the status of the tenant
changes: then the entry of that change is the record.</p>
${sessionTable('Your sessions', ['Tenant', 'Logged in by'], lines, { current: session.id, endPath: `${PATH}/end` })}
${own.length > 1 && endAllForm(`${PATH}/end-others`, 'End all others')}
${
  maySeeOthers(session) &&
  html`<h2>Of members, keys and operators</h2>
${freshNote(session, 'To end one of them', PATH)}
${sessionTable(
  'Sessions of others',
  ['Whose', 'Logged in by'],
  others.map((each) => ({ ...each, cells: [whose(each), PROOF_WORDS[each.proof]] })),
  { current: session.id, endPath: session.isFresh ? `${PATH}/of-members/end` : undefined },
)}`
}
${Math.max(own.length, ofTenant.length) === SESSIONS_LISTED_MAX && html`<p class="hint">These are the last ${SESSIONS_LISTED_MAX}.</p>`}`;
  return page({ title: 'Sessions', body });
}

/** Owners that are persons. A key or an operator ends only what it opened. */
function maySeeOthers({ member, role }: Session): boolean {
  return member !== undefined && mayDo(role, 'change_members');
}

/** Which operator it was concerns the deployment alone. */
function whose({ email, keyId }: ListedSession): HtmlValue {
  if (email !== null) return named(email);
  return keyId === null ? 'an operator' : html`key <code>${keyId}</code>`;
}

export async function submitEnding({ deps, session, form, address }: SessionCall): Promise<Answer> {
  await endOwnSessions(deps, session, { id: form.get('session') ?? '', address });
  return done(PATH, 'The session is ended.');
}

export async function submitEndingOthers({ deps, session, address }: SessionCall): Promise<Answer> {
  await endOwnSessions(deps, session, { address });
  return done(PATH, 'All other sessions are ended.');
}

export async function submitEndingOfMember({ deps, session, form, address }: SessionCall): Promise<Answer> {
  if (!maySeeOthers(session)) throw new Failure('permission_denied');
  const which = { id: form.get('session') ?? '', except: session.id, actor: actorOf(session, address) };
  await endSessionsOfTenant(deps, { tenant: session.tenant }, which);
  return done(PATH, 'The session is ended.');
}

/** `/console/members`: who may use the console of the tenant. */
import { type Html, html } from '@boxoffice/pages/html';
import { changeMemberRole, inviteMember, removeMember } from '../../../access/members/change-members.ts';
import { listMembers } from '../../../access/members/list-members.ts';
import { type Member, parseMemberEmail } from '../../../access/members/member.ts';
import { MEMBER_ROLES, type MemberRole, mayDo } from '../../../access/rights/abilities.ts';
import { changerOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { Failure } from '../../../base/failure.ts';
import { limitHolderOf } from '../../../base/tenants/limited-caller.ts';
import { EMAIL_LENGTH_MAX } from '../../../base/tenants/tenant.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import { badge, type Faults, field, named, select, timeOf } from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { sentence } from '../../consoles/notices.ts';
import { table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';

const ROLE_TEXTS: Readonly<Record<MemberRole, string>> = {
  owner: 'Owner: everything',
  finance: 'Finance: money and payments',
  moderator: 'Moderator: rooms',
  viewer: 'Viewer: looks, and changes nothing',
};
const ROLE_CHOICES = MEMBER_ROLES.map((value) => ({ value, text: ROLE_TEXTS[value] }));

export async function showMembers(call: SessionCall): Promise<Answer> {
  return page(await membersPage(call, {}));
}

export async function submitInvitation(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const email = parseMemberEmail(form.get('email') ?? '');
  const role = parseChoice('role', form.get('role'), MEMBER_ROLES);
  const refuse = async (fault: string) => page(await membersPage(call, { email: fault }), 400);
  if (email === undefined) return refuse('Give an e-mail address, such as you@example.com.');
  await deps.invitationLimit.count(limitHolderOf(session), { email, address });
  try {
    const by = changerOf(session, address);
    await inTransaction(deps.db, async (tx) => {
      await inviteMember(tx, by, { email, role });
      await deps.consoleMails.write(tx, { type: 'invitation', to: email, tenant: session.tenant, role });
    });
    deps.consoleMails.wake();
  } catch (error) {
    if (error instanceof Failure && error.field === 'email') return refuse(sentence(error));
    throw error;
  }
  return done('/console/members', `Invitation sent to ${email}.`);
}

export async function submitRole({ deps, session, params, form, address }: SessionCall): Promise<Answer> {
  const role = parseChoice('role', form.get('role'), MEMBER_ROLES);
  const by = changerOf(session, address);
  await inTransaction(deps.db, (tx) => changeMemberRole(tx, by, { id: params.id ?? '', role }));
  return done('/console/members', `The role is ${role} now.`);
}

export async function submitRemoval({ deps, session, params, address }: SessionCall): Promise<Answer> {
  const by = changerOf(session, address);
  await inTransaction(deps.db, (tx) => removeMember(tx, by, params.id ?? ''));
  return done('/console/members', 'The member is removed.');
}

async function membersPage({ deps, session, form }: SessionCall, faults: Faults): Promise<Page> {
  const members = await listMembers(deps, session.tenant);
  const mayChange = mayDo(session.role, 'change_members');
  const body = html`<h1>Members</h1>
${table(
  'Members',
  ['Address', 'Role', 'Since', mayChange && 'Change'],
  members.map((member) => [
    named(member.email),
    mayChange ? roleForm(member) : member.role,
    member.joinedAt ? timeOf(member.joinedAt) : badge('invited', 'warn'),
    removalForm(member),
  ]),
  { names: 'Address' },
)}
${
  mayChange &&
  html`<section class="card"><h2>Invite a person</h2>
<form method="post" action="/console/members" novalidate>
${field({
  name: 'email',
  label: 'E-mail address',
  value: form.get('email'),
  faults,
  input: html`type="email" autocomplete="off" maxlength="${EMAIL_LENGTH_MAX}" required`,
})}
${select('role', 'Role', ROLE_CHOICES, form.get('role') ?? 'viewer')}
<p><button class="primary">Invite</button></p></form></section>`
}`;
  return { title: 'Members', body };
}

function roleForm({ id, role, email }: Member): Html {
  return html`<form class="inline" method="post" action="/console/members/${id}/role">
<select name="role" aria-label="Role of ${email}">${MEMBER_ROLES.map(
    (each) => html`<option${each === role && html` selected`}>${each}</option>`,
  )}</select> <button>Change<span class="hidden"> the role of ${email}</span></button></form>`;
}

function removalForm({ id, email }: Member): Html {
  return html`<form class="inline" method="post" action="/console/members/${id}/remove">
<button class="danger">Remove<span class="hidden"> ${email}</span></button></form>`;
}

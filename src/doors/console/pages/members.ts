/** `/console/members`: who may use the console of the tenant. */
import { type Html, html } from '@boxoffice/pages/html';
import {
  changeMemberRole,
  inviteAgain,
  inviteMember,
  removeMember,
} from '../../../access/members/change-members.ts';
import { listMembers } from '../../../access/members/list-members.ts';
import { type Member, parseMemberEmail } from '../../../access/members/member.ts';
import { MEMBER_ROLES, type MemberRole, mayDo } from '../../../access/rights/abilities.ts';
import { changerOf, provedAddressOf } from '../../../access/sessions/session.ts';
import type { Tx } from '../../../base/db/pool.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { Failure, notFound } from '../../../base/failure.ts';
import { limitHolderOf } from '../../../base/tenants/limited-caller.ts';
import { EMAIL_LENGTH_MAX } from '../../../base/tenants/tenant.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import { type Faults, field, named, select } from '../../consoles/components.ts';
import { parseChoice, WRONG_EMAIL } from '../../consoles/fields.ts';
import { type MemberForms, membersTable } from '../../consoles/members-table.ts';
import { sentence } from '../../consoles/notices.ts';
import { faultsOf, orWrong, readFields } from '../../consoles/read-fields.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/members';

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
  try {
    const wanted = readFields({
      email: () => orWrong(parseMemberEmail(form.get('email') ?? ''), WRONG_EMAIL),
      role: () => parseChoice('role', form.get('role'), MEMBER_ROLES),
    });
    const by = changerOf(session, address);
    await deps.invitationLimit.count(limitHolderOf(session), { email: wanted.email, address });
    return await invite(call, wanted.email, (tx) => inviteMember(tx, by, wanted));
  } catch (error) {
    const isRefused = error instanceof Failure && error.field === 'email';
    const faults = isRefused ? { email: sentence(error) } : faultsOf(error);
    if (!faults) throw error;
    return page(await membersPage(call, faults), 400);
  }
}

export async function submitInvitingAgain(call: SessionCall): Promise<Answer> {
  const { deps, session, address } = call;
  const { email, id } = await findMember(call);
  const by = changerOf(session, address);
  return deps.invitationLimit.countAgain(limitHolderOf(session), { email, address }, () =>
    invite(call, email, (tx) => inviteAgain(tx, by, id)),
  );
}

/** With its mail. */
async function invite(
  { deps, session }: SessionCall,
  email: string,
  work: (tx: Tx) => Promise<Member>,
): Promise<Answer> {
  await inTransaction(deps.db, async (tx) => {
    const { role } = await work(tx);
    const { tenant } = session;
    const by = provedAddressOf(session);
    await deps.consoleMails.write(tx, { type: 'invitation', to: email, tenant, role, by });
  });
  deps.consoleMails.wake();
  return done(PATH, `Invitation sent to ${email}.`);
}

async function findMember({ deps, session, params }: SessionCall): Promise<Member> {
  const members = await listMembers(deps, session.tenant);
  const member = members.find(({ id }) => id === params.id);
  if (!member) throw notFound('member');
  return member;
}

export async function showRemoval(call: SessionCall): Promise<Answer> {
  const { id, email } = await findMember(call);
  const body = html`<h1>Remove ${named(email)}?</h1>
<p>The person is logged out of this tenant at once. To come back, the person needs another invitation.</p>
<form method="post" action="${PATH}/${id}/remove">
<p class="actions"><button class="danger">Remove ${named(email)}</button> <a class="button" href="${PATH}">Cancel</a></p></form>`;
  return page({ title: 'Remove a member', body, layout: 'narrow' });
}

export async function submitRole({ deps, session, params, form, address }: SessionCall): Promise<Answer> {
  const role = parseChoice('role', form.get('role'), MEMBER_ROLES);
  const by = changerOf(session, address);
  await inTransaction(deps.db, (tx) => changeMemberRole(tx, by, { id: params.id ?? '', role }));
  return done(PATH, `The role is ${role} now.`);
}

export async function submitRemoval({ deps, session, params, address }: SessionCall): Promise<Answer> {
  const by = changerOf(session, address);
  await inTransaction(deps.db, (tx) => removeMember(tx, by, params.id ?? ''));
  return done(PATH, 'The member is removed.');
}

async function membersPage({ deps, session, form }: SessionCall, faults: Faults): Promise<Page> {
  const members = await listMembers(deps, session.tenant);
  const mayChange = mayDo(session.role, 'change_members');
  const body = html`<h1>Members</h1>
${membersTable(members, mayChange ? FORMS : undefined)}
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
${select('role', 'Role', ROLE_CHOICES, form.get('role') ?? 'viewer', faults)}
<p><button class="primary">Invite</button></p></form></section>`
}`;
  return { title: 'Members', body };
}

const FORMS: MemberForms = {
  role: roleForm,
  actions: (member) =>
    html`<span class="inline">${!member.joinedAt && !member.isFounder && invitationForm(member)}${removalLink(member)}</span>`,
};

function roleForm({ id, role, email }: Member): Html {
  return html`<form class="inline" method="post" action="/console/members/${id}/role">
<select name="role" aria-label="Role of ${email}">${MEMBER_ROLES.map(
    (each) => html`<option${each === role && html` selected`}>${each}</option>`,
  )}</select> <button>Change<span class="hidden"> the role of ${email}</span></button></form>`;
}

function invitationForm({ id, email }: Member): Html {
  return html`<form class="inline" method="post" action="${PATH}/${id}/invite">
<button>Send again<span class="hidden"> to ${email}</span></button></form>`;
}

function removalLink({ id, email }: Member): Html {
  return html`<a class="button danger" href="${PATH}/${id}/remove">Remove<span class="hidden"> ${email}</span></a>`;
}

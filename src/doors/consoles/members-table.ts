/** Members and invitations as a table, in both consoles. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Member } from '../../access/members/member.ts';
import { badge, named, timeOf } from './components.ts';
import { table } from './table.ts';

/** What people who may change members see instead of a role, and beside it. */
export interface MemberForms {
  role(member: Member): Html;
  actions(member: Member): Html;
}

export function membersTable(members: readonly Member[], forms?: MemberForms): Html {
  return table(
    'Members',
    ['Address', 'Role', 'Since', forms !== undefined && 'Change'],
    members.map((member) => [
      named(member.email),
      forms ? forms.role(member) : member.role,
      member.joinedAt ? timeOf(member.joinedAt) : renderInvited(member),
      forms?.actions(member),
    ]),
    { names: 'Address' },
  );
}

/** Who signed up is no guest: only the address is not proved yet. */
function renderInvited(member: Member): Html {
  if (member.isFounder) return badge('address not proved', 'warn');
  if (member.isExpired) return badge('invitation expired', 'bad');
  return html`${badge('invited', 'warn')} ${timeOf(member.createdAt)}`;
}

/** A member of a tenant: a person who uses its console, and what the person may do there. */
import { EMAIL_LENGTH_MAX, type TenantId, type TenantStatus } from '../../base/tenants/tenant.ts';

/** An owner may do everything. */
export const MEMBER_ROLES = ['owner', 'finance', 'moderator', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Of one tenant. */
export const MEMBERS_MAX = 50;

/** What the console lets members do, and the roles that may. */
export const ABILITIES = {
  see_overview: ['owner', 'finance', 'moderator', 'viewer'],
  see_money: ['owner', 'finance', 'viewer'],
  pay: ['owner', 'finance'],
  see_keys: ['owner', 'viewer'],
  change_keys: ['owner'],
  see_rooms: ['owner', 'moderator', 'viewer'],
  moderate: ['owner', 'moderator'],
  erase_people: ['owner'],
  see_members: ['owner', 'finance', 'moderator', 'viewer'],
  change_members: ['owner'],
  /** Thresholds, and who gets mail. */
  see_alerts: ['owner', 'finance', 'viewer'],
  change_alerts: ['owner', 'finance'],
  see_webhooks: ['owner', 'viewer'],
  change_webhooks: ['owner'],
  see_audit: ['owner', 'viewer'],
  export_data: ['owner'],
} as const satisfies Record<string, readonly MemberRole[]>;

export type Ability = keyof typeof ABILITIES;

export function mayDo(role: MemberRole, ability: Ability): boolean {
  return (ABILITIES[ability] as readonly MemberRole[]).includes(role);
}

export interface Member {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly role: MemberRole;
  readonly createdAt: Date;
  /** When the person proved the address and said yes. `null`: the person is invited, and is no member yet. */
  readonly joinedAt: Date | null;
  /** Has the address of the signup. */
  readonly isFounder: boolean;
  /** A founder who has yet to say what to keep of what existed before the address was proved. */
  readonly mustReview: boolean;
}

/** A tenant that a person is a member of, or is invited to. */
export interface Membership {
  readonly tenant: TenantId;
  readonly tenantName: string;
  readonly tenantStatus: TenantStatus;
  readonly member: string;
  readonly role: MemberRole;
}

/** Without spaces, quotes and control characters, so that an address cannot become a header or markup. */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The address in the form in which members have it; `undefined` if the text is none. */
export function parseMemberEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email) ? email : undefined;
}

export function isMemberId(text: string): boolean {
  return /^m_[0-9a-f]{32}$/.test(text);
}

export function isMemberRole(text: string): text is MemberRole {
  return (MEMBER_ROLES as readonly string[]).includes(text);
}

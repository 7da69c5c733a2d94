/** A member of a tenant: a person who uses its console, and what the person may do there. */
import { isMailAddress, normalAddress } from '../../base/tenants/mail-address.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';

/** An owner may do everything. */
export const MEMBER_ROLES = ['owner', 'finance', 'moderator', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Members of one tenant. */
export const MEMBERS_MAX = 50;

/**
 * The role in a session: a member's role, an operator's, which is `owner`, or `key`. A session by key is no
 * person, and does what the key may do over REST and gRPC, within its ceiling.
 */
export type SessionRole = MemberRole | 'key';

/** What the console lets people do, and who may: the roles, and whether a key may do it over REST or gRPC too. */
export const ABILITIES = {
  see_overview: ['owner', 'finance', 'moderator', 'viewer', 'key'],
  see_money: ['owner', 'finance', 'viewer', 'key'],
  pay: ['owner', 'finance', 'key'],
  see_keys: ['owner', 'viewer', 'key'],
  change_keys: ['owner', 'key'],
  see_rooms: ['owner', 'moderator', 'viewer', 'key'],
  moderate: ['owner', 'moderator', 'key'],
  erase_people: ['owner', 'key'],
  /** Members are people, and people make them: no key sees or changes them. */
  see_members: ['owner', 'finance', 'moderator', 'viewer'],
  change_members: ['owner'],
  /** Thresholds, and who gets mail. */
  see_alerts: ['owner', 'finance', 'viewer', 'key'],
  change_alerts: ['owner', 'finance', 'key'],
  see_webhooks: ['owner', 'viewer', 'key'],
  change_webhooks: ['owner', 'key'],
  see_audit: ['owner', 'viewer', 'key'],
  /** It has the members too. */
  export_data: ['owner'],
} as const satisfies Record<string, readonly SessionRole[]>;

export type Ability = keyof typeof ABILITIES;

export function mayDo(role: SessionRole, ability: Ability): boolean {
  return (ABILITIES[ability] as readonly SessionRole[]).includes(role);
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
  /** When the tenant was signed up with the address of the person; `null`: it was not. */
  readonly foundedAt: Date | null;
}

/** The address in the form in which members have it; `undefined` if the text is none. */
export function parseMemberEmail(text: string): string | undefined {
  const email = normalAddress(text.trim());
  return isMailAddress(email) ? email : undefined;
}

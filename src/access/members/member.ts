/** A member of a tenant: a person who uses its console. */
import { isMailAddress, normalAddress } from '../../base/tenants/mail-address.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import type { MemberRole } from '../rights/abilities.ts';

/** Members of one tenant. */
export const MEMBERS_MAX = 50;

/** So long an invitation can be answered, unless it is sent again. That of a founder, who signed up, has no end. */
export const INVITATION_DAYS = 14;

export interface Member {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly role: MemberRole;
  /** When the person was invited, the last time. */
  readonly createdAt: Date;
  /** When the person proved the address and said yes. `null`: the person is invited, and is no member yet. */
  readonly joinedAt: Date | null;
  /** Has the address of the signup. */
  readonly isFounder: boolean;
  /** The person was invited and did not answer in time. */
  readonly isExpired: boolean;
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

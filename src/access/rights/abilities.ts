/** Roles in the console of a tenant, and what each may do there. */

/** An owner may do everything. */
export const MEMBER_ROLES = ['owner', 'finance', 'moderator', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

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
  change_budgets: ['owner', 'finance', 'key'],
  see_keys: ['owner', 'viewer', 'key'],
  change_keys: ['owner', 'key'],
  /** Keys for agents come from people: a key that leaked makes none, which would outlive it. */
  see_agents: ['owner', 'viewer'],
  change_agents: ['owner'],
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

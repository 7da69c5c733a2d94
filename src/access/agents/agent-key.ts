/**
 * Keys for agents: programs that a text may talk into anything. Such a key calls the tools of `/mcp` and nothing else, sees and does
 * what a member of its role may, always expires, and writes seldom.
 *
 * The plaintext is `agent_<16 hex>_<secret>`, generated, hashed and compared like an API key.
 */
import type { Actor } from '../../base/audit/actor.ts';
import type { AuthenticatedCaller } from '../keys/authenticate.ts';
import type { MemberRole } from '../rights/abilities.ts';
import type { ActingCaller } from '../sessions/session.ts';

export const AGENT_PREFIX = 'agent';

/** Never `owner`: agents make no keys and no members. */
export const AGENT_ROLES = ['viewer', 'finance'] as const satisfies readonly MemberRole[];
export type AgentRole = (typeof AGENT_ROLES)[number];

/** Live keys for agents of one tenant. */
export const AGENT_KEYS_MAX = 20;

export const AGENT_DAYS_MAX = 90;
export const AGENT_DAYS_USUAL = 30;

/** Writes in any 24 hours. */
export const AGENT_WRITES_MAX = 100;

export interface NewAgentKey {
  readonly name: string;
  readonly role: AgentRole;
  /** In any 24 hours. 0: it only reads. */
  readonly writesPerDay: number;
  readonly days: number;
}

export interface AgentKey extends Omit<NewAgentKey, 'days'> {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

/** As owners see it. */
export interface ListedAgentKey extends AgentKey {
  /** In the last 24 hours. */
  readonly writesUsed: number;
  readonly isExpired: boolean;
}

/** Who makes and revokes them: an owner's session, or an operator. */
export type AgentKeyChanger = ActingCaller & { readonly actor: Actor };

/** The caller behind a verified key for agents. */
export type Agent = AuthenticatedCaller & Pick<AgentKey, 'role' | 'writesPerDay'>;

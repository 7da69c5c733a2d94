/**
 * The contents of participant tokens.
 *
 * Source: specification 5. A token is a JWS for one user, on one device, in one incarnation of one room. It
 * lives for minutes and is bound to the device's key by `cnf.jkt` (RFC 7800, RFC 9449).
 */
import { randomHex } from '../../base/lib/ids.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { Role } from '../../money/pricing/role.ts';

/** Explicit, so that a token of another kind is never mistaken for one (RFC 8725, 3.11). */
export const TOKEN_TYPE = 'participant+jwt';

/** Everything that a token grants, before it becomes claims. */
export interface Grant {
  /** Seconds since 1970, by the clock of the database. */
  readonly issuedAt: number;
  readonly lifetimeSeconds: number;
  readonly tenant: TenantId;
  readonly username: string;
  /** RFC 7638 thumbprint of the device's key. */
  readonly thumbprint: string;
  readonly room: string;
  readonly roomUid: string;
  readonly role: Role;
  /** 0 to 100. Participants may act only on lower ranks. */
  readonly rank: number;
  /** Sorted. */
  readonly capabilities: readonly string[];
  /** Revocation epoch of the user in this room: a kick starts a new one. */
  readonly epoch: number;
  /** The API key or device credential that requested the token; informational. */
  readonly keyId: string;
  /**
   * Secret of the tenant with which the revocation feed hashes the address ranges that it bans everywhere.
   */
  readonly rangeSalt: string;
  readonly policy: RelayPolicy;
  /** The uids of hard budgets that hold what the token can cost. */
  readonly budgets?: readonly string[] | undefined;
}

/** The rules of a room that relays and devices keep, because the service sees no media. */
export interface RelayPolicy {
  readonly e2eeRequired: boolean;
  readonly muteOnEntry: boolean;
}

export interface Claims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly tid: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly jti: string;
  readonly cnf: { readonly jkt: string };
  readonly room: string;
  readonly rid: string;
  readonly role: Role;
  readonly cap: readonly string[];
  readonly rank: number;
  readonly ep: number;
  readonly key: string;
  readonly salt: string;
  /** The uids of hard budgets that hold what it can cost; absent: none does. */
  readonly bud?: readonly string[];
  /** The rules that are set; absent: none is. */
  readonly policy?: { readonly e2ee_required?: true; readonly mute_on_entry?: true };
}

/** `publicUrl` is the address of the deployment: the issuer, and its host identifies the relays. */
export function claimsOf(grant: Grant, publicUrl: string): Claims {
  const { e2eeRequired, muteOnEntry } = grant.policy;
  const { budgets = [] } = grant;
  return {
    iss: publicUrl,
    aud: audienceOf(publicUrl),
    sub: grant.username,
    tid: renderTenantId(grant.tenant),
    iat: grant.issuedAt,
    nbf: grant.issuedAt,
    exp: grant.issuedAt + grant.lifetimeSeconds,
    jti: randomHex(16),
    cnf: { jkt: grant.thumbprint },
    room: grant.room,
    rid: grant.roomUid,
    role: grant.role,
    cap: grant.capabilities,
    rank: grant.rank,
    ep: grant.epoch,
    key: grant.keyId,
    salt: grant.rangeSalt,
    ...(budgets.length > 0 && { bud: budgets }),
    ...((e2eeRequired || muteOnEntry) && {
      policy: { ...(e2eeRequired && { e2ee_required: true }), ...(muteOnEntry && { mute_on_entry: true }) },
    }),
  };
}

/** The `aud` claim for the relays of a deployment. */
export function audienceOf(publicUrl: string): string {
  return `relay:${new URL(publicUrl).host}`;
}

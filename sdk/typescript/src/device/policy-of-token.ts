/** The rules of a room that its tokens tell. From the token, because what must be encrypted is not for a relay to say. */
import type { Renewable } from './session.ts';

export interface RoomRules {
  readonly e2eeRequired: boolean;
  readonly muteOnEntry: boolean;
}

/** Trusts the token: it comes from the service or the application's back end. A text that is no token has no rules. */
export function policyOf({ token }: Renewable): RoomRules {
  const { policy = {} } = readClaims(token);
  return { e2eeRequired: policy.e2ee_required === true, muteOnEntry: policy.mute_on_entry === true };
}

function readClaims(token: string): { readonly policy?: Record<string, unknown> } {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}

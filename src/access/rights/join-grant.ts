/** The grant of a token that a device gets with its own credential. Source: specification 4.11. */

import { capabilitiesOfRole, joinCapabilities, type RoleCapabilities } from './capabilities.ts';
import type { TokenGrant } from './key-ceiling.ts';
import type { PublishRight } from './publish-rights.ts';
import { TOKEN_SECONDS_DEFAULT } from './token-lifetime.ts';

/**
 * The rank is that of an ordinary participant, who may not moderate. A room whose policy lists what its audience may do
 * takes away the rest; it adds nothing to what the credential may do.
 */
export function joinGrant(publish: readonly PublishRight[], policy?: RoleCapabilities) {
  const capabilities = joinCapabilities(publish);
  const allowed: readonly string[] = policy ? capabilitiesOfRole('audience', policy) : capabilities;
  return {
    role: 'audience',
    rank: 20,
    capabilities: capabilities.filter((each) => allowed.includes(each)),
    lifetimeSeconds: TOKEN_SECONDS_DEFAULT,
  } as const satisfies TokenGrant;
}

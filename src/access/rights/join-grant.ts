/** The grant of a token that a device gets with its own credential. Source: specification 4.11. */

import { joinCapabilities } from './capabilities.ts';
import type { TokenGrant } from './key-ceiling.ts';
import type { PublishRight } from './publish-rights.ts';
import { TOKEN_SECONDS_DEFAULT } from './token-lifetime.ts';

/** The rank is that of an ordinary participant, who may not moderate. */
export function joinGrant(publish: readonly PublishRight[]) {
  return {
    role: 'audience',
    rank: 20,
    capabilities: joinCapabilities(publish),
    lifetimeSeconds: TOKEN_SECONDS_DEFAULT,
  } as const satisfies TokenGrant;
}

/**
 * Capabilities: what a token allows. The list is closed; what is not in a token is denied.
 */

import type { Role } from '../../money/pricing/role.ts';
import type { PublishRight } from './publish-rights.ts';

export const CAPABILITIES = [
  'chat.send',
  'moderate.ban',
  'moderate.close_room',
  'moderate.kick',
  'moderate.mute',
  'moderate.revoke_publish',
  'publish.audio',
  'publish.data',
  'publish.screen',
  'publish.video',
  'room.end',
  'room.hidden',
  'room.update_policy',
  'roster.view',
  'self.update',
  'subscribe.audio',
  'subscribe.video',
  'watchdog.manage',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

const WORDS: Readonly<Record<Capability, string>> = {
  'chat.send': 'write in the chat',
  'moderate.ban': 'ban',
  'moderate.close_room': 'close the room',
  'moderate.kick': 'kick',
  'moderate.mute': 'mute',
  'moderate.revoke_publish': 'stop others from publishing',
  'publish.audio': 'publish audio',
  'publish.data': 'publish data',
  'publish.screen': 'publish the screen',
  'publish.video': 'publish video',
  'room.end': 'end the room',
  'room.hidden': 'be hidden from others',
  'room.update_policy': 'change the rules of the room',
  'roster.view': 'see who is there',
  'self.update': 'change what others see of oneself',
  'subscribe.audio': 'hear',
  'subscribe.video': 'see video',
  'watchdog.manage': 'set watchdogs',
};

/** What people read. */
export function capabilityWords(capability: string): string {
  return WORDS[capability as Capability] ?? capability;
}

const WATCHING: readonly Capability[] = ['subscribe.audio', 'subscribe.video'];

/** What every participant may do besides publishing. None of it affects other participants or the room. */
const PARTICIPATING: readonly Capability[] = [...WATCHING, 'chat.send', 'roster.view', 'self.update'];

const PUBLISHING: readonly Capability[] = [
  'publish.audio',
  'publish.data',
  'publish.screen',
  'publish.video',
];

/** The default capabilities of a role, unless the request or the room's policy names others. */
export const ROLE_CAPABILITIES: Readonly<Record<Role, readonly Capability[]>> = {
  // `room.hidden` is granted only on request.
  host: CAPABILITIES.filter((capability) => capability !== 'room.hidden'),
  audience: [...PARTICIPATING, ...PUBLISHING],
  broadcast_audience: [...WATCHING, 'chat.send', 'self.update'],
};

/** What tokens of a role grant if a request names no capabilities; empty: `ROLE_CAPABILITIES`. */
export interface RoleCapabilities {
  readonly hostCapabilities: readonly Capability[];
  readonly audienceCapabilities: readonly Capability[];
}

/** The capabilities of a role if a request names none. */
export function capabilitiesOfRole(role: Role, policy: RoleCapabilities): readonly Capability[] {
  const ofPolicy = role === 'host' ? policy.hostCapabilities : policy.audienceCapabilities;
  return ofPolicy.length > 0 ? ofPolicy : ROLE_CAPABILITIES[role];
}

export function isCapability(text: string): text is Capability {
  return (CAPABILITIES as readonly string[]).includes(text);
}

/** The capabilities of a device that joins with its own credential. Sorted, as in tokens. */
export function joinCapabilities(publish: readonly PublishRight[]): readonly string[] {
  return [...PARTICIPATING, ...publish.map((right) => `publish.${right}`)].sort();
}

/** Which device credentials a key with a ceiling may create, rotate and revoke. */
import { joinGrant } from '../rights/join-grant.ts';
import { type KeyCeiling, refuseBeyondCeiling } from '../rights/key-ceiling.ts';
import type { DeviceGrant } from './device-credential.ts';

/** Fails with `ceiling_exceeded` if a join with the credential would grant more than the key may mint. */
export function refuseWiderGrant(
  ceiling: KeyCeiling,
  { publish, rooms }: Pick<DeviceGrant, 'publish' | 'rooms'>,
): void {
  refuseBeyondCeiling(ceiling, joinGrant(publish), rooms ?? ['*']);
}

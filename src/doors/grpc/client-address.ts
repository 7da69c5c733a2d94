/** The client address of a call: the peer, or the address that a trusted proxy forwarded. */
import type { Metadata } from '@grpc/grpc-js';
import { type AddressRange, isWithin } from '../../base/lib/address.ts';

/** For failed keys and the audit trail. Text that is not an address is used as it is. */
export function clientAddress(
  call: { getPeer(): string; readonly metadata: Metadata },
  trusted: readonly AddressRange[],
): string {
  let address = call.getPeer();
  // Most deployments trust no proxy, and every call asks.
  if (trusted.length === 0) return address;
  const forwarded = call.metadata.get('x-forwarded-for').join(',').split(',');
  // The nearest proxy appends last. Entries before the first untrusted address may be forged.
  while (isWithin(trusted, address)) {
    const next = forwarded.pop()?.trim();
    if (!next) break;
    address = next;
  }
  return address;
}

/** Where a call comes from: the peer, or whom a proxy that is trusted names. */
import type { Metadata } from '@grpc/grpc-js';
import { type AddressRange, isWithin } from '../../base/lib/address.ts';

/** Only of failed keys is the address of any interest; text that is none stands for itself. */
export function clientAddress(
  call: { getPeer(): string; readonly metadata: Metadata },
  trusted: readonly AddressRange[],
): string {
  const forwarded = call.metadata.get('x-forwarded-for').join(',').split(',');
  let address = call.getPeer();
  // The nearest proxy wrote last. What stands before an address that nobody trusts may be made up.
  while (isWithin(trusted, address)) {
    const next = forwarded.pop()?.trim();
    if (!next) break;
    address = next;
  }
  return address;
}

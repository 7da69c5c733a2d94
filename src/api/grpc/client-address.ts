/** Where a call comes from: the peer, or whom a proxy that is trusted names. */
import type { Metadata } from '@grpc/grpc-js';
import ipaddr from 'ipaddr.js';
import { parseAddress } from '../../lib/address.ts';

/** Only of failed keys is the address of any interest; text that is none stands for itself. */
export function clientAddress(
  call: { getPeer(): string; readonly metadata: Metadata },
  trustProxy: readonly string[],
): string {
  const forwarded = call.metadata.get('x-forwarded-for').join(',').split(',');
  let address = call.getPeer();
  // The nearest proxy wrote last. What stands before an address that nobody trusts may be made up.
  while (isTrusted(address, trustProxy)) {
    const next = forwarded.pop()?.trim();
    if (!next) break;
    address = next;
  }
  return address;
}

function isTrusted(address: string, trustProxy: readonly string[]): boolean {
  const canonical = parseAddress(address);
  if (canonical === undefined) return false;
  const parsed = ipaddr.process(canonical);
  return trustProxy.some((each) => {
    const [network, bits] = parseRange(each);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}

/** An address by itself is the range that holds nothing else. */
function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

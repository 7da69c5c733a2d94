/** Client addresses, as rate limits count them. */
import { isIPv4, isIPv6 } from 'node:net';

/**
 * What one client may be expected to control: an IPv4 address, or the /64 of an IPv6 address.
 *
 * IPv4 in IPv6's clothes (`::ffff:192.0.2.1`) is the same client as without.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped && isIPv4(mapped)) return mapped;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  return `${ipv6Groups(bare).slice(0, 4).join(':')}::/64`;
}

/** The eight groups of an IPv6 address, in hex without leading zeros. */
function ipv6Groups(address: string): string[] {
  // The URL parser writes every spelling in the one canonical way, dotted quads included.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = head ? head.split(':') : [];
  const after = tail ? tail.split(':') : [];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

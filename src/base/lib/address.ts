/** Client addresses and address ranges. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The canonical form of an address; `undefined` if the text is not an address.
 *
 * An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) becomes the IPv4 address. A zone (`%eth0`) has no
 * meaning on another host and is dropped, as is the port that some proxies add.
 */
export function parseAddress(text: string): string | undefined {
  const [bare = ''] = withoutPort(text).split('%');
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return undefined;
  return ipaddr.process(bare).toString();
}

/** An address and the length of its prefix. */
export type AddressRange = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Parses a range like `10.0.0.0/8`, or a single address as a range of one; `undefined` for other text. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', digits] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  const bits = digits === undefined ? bitsMax : Number(digits);
  return bitsMax > 0 && bits <= bitsMax ? [ipaddr.parse(address), bits] : undefined;
}

/** Whether any range contains the address; false if the text is not an address. */
export function isWithin(ranges: readonly AddressRange[], address: string): boolean {
  const canonical = parseAddress(address);
  if (canonical === undefined) return false;
  const parsed = ipaddr.parse(canonical);
  return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
}

/** Strips the port and brackets of `[2001:db8::1]:443` and `192.0.2.1:443`. */
function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/**
 * The network that rate limits count as one client: an IPv4 address, or the /64 of an IPv6 address.
 * Text that is not an address is returned as it is.
 */
export function networkOf(address: string): string {
  return ipv6NetworkOf(address, 64) ?? parseAddress(address) ?? withoutPort(address);
}

/** The network of the first `bits` (16 to 128) of an IPv6 address; `undefined` for any other text. */
export function ipv6NetworkOf(address: string, bits: number): string | undefined {
  const canonical = parseAddress(address);
  const parsed = canonical === undefined ? undefined : ipaddr.parse(canonical);
  if (!(parsed instanceof ipaddr.IPv6)) return undefined;
  const groups = parsed.parts.slice(0, Math.ceil(bits / 16));
  // The last group may be in the network only in part.
  const hostBits = groups.length * 16 - bits;
  groups.push((groups.pop()! >> hostBits) << hostBits);
  return `${groups.map((group) => group.toString(16)).join(':')}::/${bits}`;
}

/** The network that an address is shown as: the first 24 bits of an IPv4 address, 48 of IPv6; `undefined` for other text. */
export function shownNetworkOf(address: string): string | undefined {
  const canonical = parseAddress(address);
  return canonical?.includes(':') ? ipv6NetworkOf(canonical, 48) : canonical?.replace(/\.\d+$/, '.0/24');
}

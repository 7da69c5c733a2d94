/** Addresses of clients, and ranges of them. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * An address in its one canonical spelling; `undefined` for text that is none.
 *
 * IPv4 in IPv6's clothes (`::ffff:192.0.2.1`) is the IPv4 address. A zone (`%eth0`) says nothing to
 * anybody else and is dropped, and so is the port that some proxies add.
 */
export function parseAddress(text: string): string | undefined {
  const [bare = ''] = withoutPort(text).split('%');
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return undefined;
  return ipaddr.process(bare).toString();
}

/** An address, and how many of its first bits count. */
export type AddressRange = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A range like `10.0.0.0/8`, or an address by itself, which is the range of nothing else; `undefined` for other text. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', digits] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  const bits = digits === undefined ? bitsMax : Number(digits);
  return bitsMax > 0 && bits <= bitsMax ? [ipaddr.parse(address), bits] : undefined;
}

/** Whether one of the ranges holds the address; none holds text that is no address. */
export function isWithin(ranges: readonly AddressRange[], address: string): boolean {
  const canonical = parseAddress(address);
  if (canonical === undefined) return false;
  const parsed = ipaddr.parse(canonical);
  return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
}

/** `[2001:db8::1]:443` and `192.0.2.1:443` without what is not the address. */
function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/**
 * What one client may be expected to control, as rate limits count it: an IPv4 address, or the /64 of
 * an IPv6 address. Text that is no address stands for itself.
 */
export function networkOf(address: string): string {
  const canonical = parseAddress(address);
  if (canonical === undefined) return withoutPort(address);
  const parsed = ipaddr.parse(canonical);
  if (parsed.kind() === 'ipv4') return canonical;
  const groups = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

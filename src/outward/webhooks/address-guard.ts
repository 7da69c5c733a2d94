/**
 * Which addresses the service may connect to on behalf of a tenant.
 *
 * Source: the special-purpose registries of IANA for IPv4 and IPv6 (RFC 6890). An address is public only if
 * none of the ranges below holds it; of IPv6, only 2000::/3 is handed out for the public internet at all.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type AddressRange, parseRange } from '../../base/lib/address.ts';

/** Ranges that the operator allows although they are not public. */
export type AddressRanges = readonly AddressRange[];

/** Why an address is not public, as a word that fits before `address`. */
export type AddressKind =
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'shared'
  | 'multicast'
  | 'documentation'
  | 'benchmarking'
  | 'translated'
  | 'reserved';

/** The first range that holds an address decides. Forms that hold an IPv4 address are all `translated`. */
const SPECIAL: readonly (readonly [cidr: string, kind: AddressKind])[] = [
  ['0.0.0.0/8', 'reserved'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'reserved'],
  ['192.52.193.0/24', 'reserved'],
  ['192.88.99.0/24', 'translated'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'reserved'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'reserved'],
  ['::1/128', 'loopback'],
  // IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64 (well-known and local prefix), Teredo, 6to4.
  ['::/96', 'translated'],
  ['::ffff:0:0/96', 'translated'],
  ['::ffff:0:0:0/96', 'translated'],
  ['64:ff9b::/96', 'translated'],
  ['64:ff9b:1::/48', 'translated'],
  ['2001::/32', 'translated'],
  ['2002::/16', 'translated'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
  ['2001::/23', 'reserved'],
  ['2620:4f:8000::/48', 'reserved'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
];

const RANGES = SPECIAL.map(([cidr, kind]) => [parseRange(cidr)!, kind] as const);
const PUBLIC_IPV6 = parseRange('2000::/3')!;

/**
 * Why the service must not connect to `address`; `undefined` if it may.
 *
 * `address` is text as a resolver or `URL` writes it. Text that is no address is `reserved`.
 */
export function findRefusedKind(address: string, allowed: AddressRanges): AddressKind | undefined {
  const parsed = parse(address);
  if (parsed === undefined) return 'reserved';
  if (isWithin(allowed, parsed)) return undefined;
  const special = RANGES.find(([range]) => isWithin([range], parsed));
  if (special !== undefined) return special[1];
  return parsed.kind() === 'ipv4' || isWithin([PUBLIC_IPV6], parsed) ? undefined : 'reserved';
}

/** Whether the operator allows the address, in the form that it has: a mapped IPv4 address is not IPv4 here. */
export function isAllowed(address: string, allowed: AddressRanges): boolean {
  const parsed = parse(address);
  return parsed !== undefined && isWithin(allowed, parsed);
}

type Address = AddressRange[0];

function parse(text: string): Address | undefined {
  // A zone names an interface of this machine. Only local addresses have one.
  const [bare = ''] = text.split('%', 1);
  if (isIP(bare) === 4) return ipaddr.parse(bare);
  // In hex, because ipaddr.js reads `::127.0.0.1` as `::ffff:127.0.0.1`.
  return isIP(bare) === 6 ? ipaddr.parse(new URL(`http://[${bare}]`).hostname.slice(1, -1)) : undefined;
}

function isWithin(ranges: AddressRanges, address: Address): boolean {
  return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

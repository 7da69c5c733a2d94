/** What the records of a posting add up to, by room, role and tier. */
import type { UsageSum } from '../ledger/posting.ts';
import { ROLES, TIERS } from '../pricing/role.ts';
import { ROLE_CODES, TIER_CODES } from '../pricing/role-codes.ts';
import type { ChargedRecords } from '../records/copy-rows.ts';
import { ROOM, type UsageRecords } from '../records/usage-records.ts';
import { Total } from './total.ts';

/** The new records of a posting; duplicates do not count. */
export function sumRecords(charged: readonly ChargedRecords[]): UsageSum[] {
  const groups = new Groups();
  for (const { records, lines, amounts } of charged) {
    for (let row = 0; row < records.length; row += 1) {
      if (lines[row] === -1) continue;
      const group = groups.of(records, row);
      group.records += 1;
      group.seconds += records.seconds[row]!;
      group.egressBytes.add(records.egressBytes[row]!);
      group.ingressBytes.add(records.ingressBytes[row]!);
      group.amount += amounts[row]!;
    }
  }
  return groups.all.map((group) => ({
    room: group.members.room(group.first) ?? '',
    role: ROLE_CODES[ROLES[group.role]!],
    tier: TIER_CODES[TIERS[group.tier]!],
    records: group.records,
    seconds: group.seconds,
    egressBytes: group.egressBytes.value(),
    ingressBytes: group.ingressBytes.value(),
    amount: group.amount,
  }));
}

interface Group {
  /** Where its first record is. */
  readonly members: UsageRecords;
  readonly first: number;
  readonly role: number;
  readonly tier: number;
  records: number;
  seconds: number;
  readonly egressBytes: Total;
  readonly ingressBytes: Total;
  amount: bigint;
  /** Another group with the same hash. */
  readonly next: Group | undefined;
}

/** Finds the group of a record by the bytes of its room: a string of each room would cost more than its price. */
class Groups {
  readonly all: Group[] = [];
  readonly #byHash = new Map<number, Group>();

  of(records: UsageRecords, row: number): Group {
    const role = records.roles[row]!;
    const tier = records.tiers[row]!;
    const hash = hashRoom(records, row, role * TIERS.length + tier);
    const found = this.#byHash.get(hash);
    for (let group = found; group; group = group.next) {
      if (group.role === role && group.tier === tier && isSameRoom(group, records, row)) return group;
    }
    const group: Group = {
      members: records,
      first: row,
      role,
      tier,
      records: 0,
      seconds: 0,
      egressBytes: new Total(),
      ingressBytes: new Total(),
      amount: 0n,
      next: found,
    };
    this.#byHash.set(hash, group);
    this.all.push(group);
    return group;
  }
}

/** FNV-1a over the bytes of the room. No room is as the empty one. */
function hashRoom(records: UsageRecords, row: number, seed: number): number {
  const { bytes } = records;
  const end = records.textEnd(row, ROOM);
  let hash = seed ^ 0x811c9dc5;
  for (let at = roomStart(records, row); at < end; at += 1) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash;
}

function isSameRoom(group: Group, records: UsageRecords, row: number): boolean {
  const start = roomStart(records, row);
  const first = roomStart(group.members, group.first);
  const length = records.textEnd(row, ROOM) - start;
  if (group.members.textEnd(group.first, ROOM) - first !== length) return false;
  for (let at = 0; at < length; at += 1) {
    if (group.members.bytes[first + at] !== records.bytes[start + at]) return false;
  }
  return true;
}

function roomStart(records: UsageRecords, row: number): number {
  return Math.max(records.textStart(row, ROOM), 0);
}

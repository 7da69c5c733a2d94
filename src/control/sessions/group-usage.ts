/** Finds a session, or a room, for each sum of usage by participant. */
import { prepareUsername } from '../../access/usernames/username.ts';
import { TIERS } from '../../money/pricing/role.ts';
import type { ParticipantSum } from '../../money/records/participant-sum.ts';
import type { NextPosting } from '../../money/usage/posted-usage.sql.ts';
import type { Charge } from '../budgets/spend-from-budgets.ts';
import { keyOf } from './follow-sessions.ts';
import { chooseStay } from './match-session.ts';
import type { Incarnation, RoomSum } from './room-usage.sql.ts';
import { addUsage, type SessionUsage, totalSeconds } from './session.ts';
import { type DaySum, SESSION_GROUPINGS } from './session-sums.ts';
import type { Candidate, SessionNames, SessionSum } from './sessions.sql.ts';

interface Group {
  readonly sum: ParticipantSum;
  readonly posting: NextPosting;
  /** Its place among `names`; `undefined`: the records name no participant in a room. */
  readonly place: number | undefined;
  session?: Candidate | undefined;
}

export class UsageGroups {
  /** The rooms and participants that records name, each pair once. */
  readonly names: SessionNames[] = [];
  readonly #groups: readonly Group[];

  constructor(postings: readonly NextPosting[], sums: readonly ParticipantSum[]) {
    const bySeq = new Map(postings.map((posting) => [posting.seq, posting]));
    const places = new Map<string, number>();
    this.#groups = sums.map((sum) => ({
      sum,
      posting: bySeq.get(sum.seq)!,
      place: this.#placeOf(sum, places),
    }));
  }

  /**
   * A relay reports the username of the token. One that reports the name as it was typed means the same participant. Usage of an erased
   * name goes to a session of an erased name, or of a user who really has that name.
   */
  #placeOf({ room, participant: name }: ParticipantSum, places: Map<string, number>): number | undefined {
    if (!room || !name) return undefined;
    const participant = prepareUsername(name) ?? name;
    const key = keyOf(room, participant);
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, this.names.length);
    return this.names.push({ room, participant }) - 1;
  }

  /** `candidates`: of each of the names, newest first. */
  assign(candidates: readonly Candidate[]): void {
    const byPlace = Map.groupBy(candidates, ({ place }) => place);
    for (const group of this.#groups) {
      if (group.place !== undefined)
        group.session = chooseStay(byPlace.get(group.place) ?? [], timeOf(group));
    }
  }

  /** What each session gets. */
  sessions(): SessionSum[] {
    const sums = new Map<string, SessionSum>();
    for (const group of this.#groups) {
      if (!group.session) continue;
      const { id } = group.session;
      const { seq } = group.posting;
      const before = sums.get(id);
      sums.set(
        id,
        before
          ? { ...before, lastSeq: seq, usage: addUsage(before.usage, usageOf(group)) }
          : { id, firstSeq: seq, lastSeq: seq, usage: usageOf(group) },
      );
    }
    return [...sums.values()];
  }

  /**
   * What was charged, with the key and the customer of its session. A participant has one charge of each posting and tier, however many
   * spellings of the name the records have: each charge looks at all holds of the participant.
   */
  charges(): Charge[] {
    const billed = this.#groups.filter(({ posting }) => posting.kind === 'usage');
    const same = Map.groupBy(billed, ({ sum, posting: { seq }, place, session }) =>
      [seq, sum.tier, session?.id, place ?? keyOf(sum.room ?? '', sum.participant ?? '')].join(),
    );
    return Array.from(same.values(), (groups) => {
      const { sum, posting, place, session } = groups[0]!;
      const names = place === undefined ? { room: sum.room ?? '', participant: null } : this.names[place]!;
      const { keyId = null, customer = null } = session ?? {};
      const seconds = groups.reduce((total, each) => total + Number(each.sum.seconds), 0);
      const micros = groups.reduce((total, each) => total + each.sum.amount, 0n);
      return { ...names, seconds, micros, at: posting.at, keyId, customer };
    });
  }

  /** The rooms of usage that has no session. */
  roomsOfRest(): string[] {
    return [...new Set(this.#groups.flatMap(({ session, sum }) => (!session && sum.room ? [sum.room] : [])))];
  }

  /** What each room gets, by its sessions and without. `incarnations`: of each of `roomsOfRest()`, newest first. */
  rooms(incarnations: readonly Incarnation[]): RoomSum[] {
    const byRoom = Map.groupBy(incarnations, ({ room }) => room);
    const sums = new Map<string, RoomSum>();
    for (const group of this.#groups) {
      const { session, place } = group;
      const room = session ? this.names[place!]!.room : (group.sum.room ?? '');
      const stay = session ?? chooseStay(byRoom.get(room) ?? [], timeOf(group));
      const roomUid = stay?.roomUid ?? '';
      const isAssigned = session !== undefined;
      const key = `${keyOf(room, roomUid)}\0${isAssigned}`;
      const before = sums.get(key);
      const usage = usageOf(group);
      sums.set(key, { room, roomUid, isAssigned, usage: before ? addUsage(before.usage, usage) : usage });
    }
    return [...sums.values()];
  }

  /** What participants, keys and customers get, by what the sessions have. */
  days(): DaySum[] {
    const sums = new Map<string, Omit<DaySum, 'seconds'> & SessionUsage>();
    for (const group of this.#groups) {
      const { session, place, posting } = group;
      if (!session) continue;
      const { keyId: key, customer } = session;
      const names = { participant: this.names[place!]!.participant, key, customer };
      const day = posting.at.toISOString().slice(0, 10);
      const usage = usageOf(group);
      for (const by of SESSION_GROUPINGS) {
        const name = names[by] ?? '';
        const id = `${by} ${day} ${name}`;
        const before = sums.get(id);
        sums.set(id, { by, day, name, ...(before ? addUsage(before, usage) : usage) });
      }
    }
    return [...sums.values()].map((sum) => ({ ...sum, seconds: totalSeconds(sum) }));
  }
}

function timeOf({ posting, sum }: Group) {
  return { at: posting.at, seconds: sum.longest };
}

function usageOf({ posting, sum }: Group): SessionUsage {
  const { records, egressBytes, ingressBytes, amount } = sum;
  const isUnbilled = posting.kind === 'unbilled';
  return {
    records,
    seconds: TIERS.map((tier) => (tier === sum.tier ? sum.seconds : 0n)),
    egressBytes,
    ingressBytes,
    amount: isUnbilled ? 0n : amount,
    unbilled: isUnbilled ? amount : 0n,
  };
}

/** What was on: shows of a theatre, the same in each run. */

export interface Show {
  readonly name: string;
  readonly room: string;
  readonly endedAt: Date;
  /** No later one has ended. */
  readonly isLast: boolean;
  readonly people: readonly Attendance[];
}

interface Attendance {
  readonly participant: string;
  readonly role: 'host' | 'audience' | 'broadcast_audience';
  readonly tier: 'audio' | 'hd' | 'full_hd' | '2k';
  readonly seconds: number;
  readonly egressBytes: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface Regular {
  readonly room: string;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  readonly hour: number;
  readonly minutes: number;
  readonly seats: number;
}

const PROGRAMME: readonly Regular[] = [
  { room: 'rehearsal-1', weekdays: [1, 2, 3, 4, 5], hour: 11, minutes: 150, seats: 14 },
  { room: 'workshop', weekdays: [2, 4], hour: 15, minutes: 90, seats: 24 },
  { room: 'foyer', weekdays: [0, 4, 5, 6], hour: 19, minutes: 45, seats: 40 },
  { room: 'main-stage', weekdays: [3, 4, 5, 6], hour: 22, minutes: 140, seats: 120 },
  { room: 'matinee', weekdays: [0, 6], hour: 16, minutes: 110, seats: 90 },
  { room: 'box-office-help', weekdays: [0, 1, 2, 3, 4, 5, 6], hour: 13, minutes: 30, seats: 6 },
];

/** In the order of their ends. The last one ended twenty minutes before `to`, so that something was used within the hour. */
export function showsOf(from: Date, to: Date): Show[] {
  const days = Math.floor((to.getTime() - from.getTime()) / DAY_MS);
  const ends = Array.from({ length: days + 1 }, (_, day) => {
    const midnight = Math.floor((from.getTime() + day * DAY_MS) / DAY_MS) * DAY_MS;
    const weekday = new Date(midnight).getUTCDay();
    return PROGRAMME.filter(({ weekdays }) => weekdays.includes(weekday)).map(
      (show) => [show, midnight + show.hour * HOUR_MS + (day % 5) * 60_000] as const,
    );
  }).flat();
  const newest = [PROGRAMME[0]!, to.getTime() - 20 * 60_000] as const;
  const past = ends
    .filter(([, end]) => end > from.getTime() && end < newest[1])
    .sort(([, a], [, b]) => a - b);
  return [...past, newest].map(([show, end], at, all) => ({
    name: `${show.room}.${at}`,
    room: show.room,
    endedAt: new Date(end),
    isLast: at === all.length - 1,
    people: attendanceOf(show, at),
  }));
}

/** How full the house was, from 0.55 to 1: a walk that looks like chance and is the same each time. */
function attendanceOf({ minutes, seats }: Regular, at: number): Attendance[] {
  const count = Math.max(3, Math.round(seats * (0.55 + ((at * 37) % 46) / 100)));
  return Array.from({ length: count }, (_, seat) => {
    const seconds = Math.round(minutes * 60 * (0.7 + ((seat * 13 + at * 7) % 31) / 100));
    const role = seat < 2 ? 'host' : seats > 50 ? 'broadcast_audience' : 'audience';
    const tier = seat < 2 ? 'full_hd' : (['hd', 'hd', 'audio', 'full_hd', '2k'] as const)[(seat + at) % 5]!;
    const megabits = { audio: 0.1, hd: 12, full_hd: 24, '2k': 48 }[tier];
    return {
      participant: seat < 2 ? ['prospero', 'miranda'][seat]! : `guest-${(seat * 17 + at * 5) % 400}`,
      role,
      tier,
      seconds,
      egressBytes: Math.round((seconds * megabits * 1_000_000) / 8),
    };
  });
}

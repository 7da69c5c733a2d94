/**
 * Finds out that a thread of the media library loops for ever. libdatachannel 0.24 does so for some malformed reports (RTCP SDES)
 * of a participant who has two tracks, and nothing but the end of the process helps.
 */
import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 3_000;
const LOOKS = 5;
/** Hundredths of a second of CPU time between two looks: it may share its processor. */
const BUSY_TICKS = 30;
const TASKS = '/proc/self/task';

interface Look {
  readonly ticks: number;
  /** How often it has waited for anything. A thread that works does, however busy it is. */
  readonly waits: string;
  /** How many looks in a row found it busy, and never waiting. */
  readonly spins: number;
}

/** On Linux. `onSpin` is called at most once. */
export function watchForSpin(onSpin: () => void): void {
  if (process.platform !== 'linux') return;
  let looks = new Map<string, Look>();
  const timer = setInterval(() => {
    try {
      looks = new Map(workers().map((id) => [id, lookAt(id, looks.get(id))]));
    } catch {
      // All descriptors are taken, so this look sees nothing.
      return;
    }
    if (![...looks.values()].some(({ spins }) => spins >= LOOKS)) return;
    clearInterval(timer);
    onSpin();
  }, LOOK_MS).unref();
}

const read = (id: string, name: string) => readFileSync(`${TASKS}/${id}/${name}`, 'utf8');

function workers(): string[] {
  return readdirSync(TASKS).filter((id) => {
    try {
      return read(id, 'comm') === 'RTC worker\n';
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

/** Source: proc(5). The library keeps its workers until the process ends. */
function lookAt(id: string, before: Look | undefined): Look {
  const stat = read(id, 'stat');
  const [utime, stime] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  const ticks = Number(utime) + Number(stime);
  const [waits = ''] = /^voluntary_ctxt_switches:.*/m.exec(read(id, 'status')) ?? [];
  const spins = before && waits === before.waits && ticks - before.ticks >= BUSY_TICKS ? before.spins + 1 : 0;
  return { ticks, waits, spins };
}

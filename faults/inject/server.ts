/** The whole PostgreSQL is killed, stands still, loses power, has no room on its disk, or a wrong clock. */
import { signal } from '../../test/deploy/processes.ts';
import type { Stage } from '../stage/stage.ts';
import type { Choice, Fault } from './fault.ts';

const lane = 'server';
/** As far as a machine whose clock is set right once it has drifted. */
const SHIFT_SECONDS_MAX = 10;
const WRONG_MS_MIN = 500;
const shiftSeconds = ({ dice }: Choice) => Math.round((dice * 2 - 1) * SHIFT_SECONDS_MAX) || 1;
const findObstacle = (stage: Stage) => stage.database.disk.limits;

/** Its processes, of which there are some. */
function processesOf({ database }: Stage): readonly number[] {
  const pids = database.processes();
  if (pids.length === 0) throw new Error('PostgreSQL does not run');
  return pids;
}

export const SERVER: readonly Fault[] = [
  {
    name: 'PostgreSQL is killed',
    lane,
    weight: 3,
    seconds: [0, 1],
    happen: async (stage) => {
      processesOf(stage);
      await stage.database.kill();
      return () => stage.database.start();
    },
  },
  {
    name: 'PostgreSQL stands still',
    lane,
    weight: 2,
    seconds: [0.5, 4],
    happen: async (stage) => {
      const stopped = processesOf(stage);
      signal(stopped, 'SIGSTOP');
      return () => signal(stopped, 'SIGCONT');
    },
  },
  {
    name: 'the machine of PostgreSQL loses power',
    lane,
    weight: 3,
    seconds: [0, 1],
    findObstacle,
    happen: async (stage) => {
      processesOf(stage);
      await stage.database.losePower();
      return () => stage.database.start();
    },
  },
  {
    name: 'the disk of PostgreSQL is full',
    lane,
    weight: 2,
    seconds: [1, 4],
    findObstacle,
    happen: async ({ database }) => {
      await database.disk.fill();
      return async () => {
        database.disk.free();
        // It may have ended, because it could not write its log.
        await database.start();
      };
    },
  },
  {
    name: 'the clock of PostgreSQL is wrong',
    lane,
    weight: 2,
    seconds: [1, 5],
    findObstacle: ({ database }) => database.clock.limits,
    shiftMs: (choice) => shiftSeconds(choice) * 1_000,
    happen: async (stage, choice) => {
      const { clock } = stage.database;
      processesOf(stage);
      await clock.shift(shiftSeconds(choice));
      const isShifted = await isWrong(stage).catch(() => false);
      return async () => {
        await clock.shift(0);
        return isShifted;
      };
    },
  },
];

/** Whether the clock of PostgreSQL is not that of this process. */
async function isWrong({ db }: Stage): Promise<boolean> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  return Math.abs(rows[0]!.now.getTime() - Date.now()) > WRONG_MS_MIN;
}

/** The whole PostgreSQL is killed, stands still, loses power, or has no room on its disk. */
import { signal } from '../../test/deploy/processes.ts';
import type { Stage } from '../stage/stage.ts';
import type { Fault } from './fault.ts';

const lane = 'server';
const findObstacle = (stage: Stage) => stage.database.disk.limits;

export const SERVER: readonly Fault[] = [
  {
    name: 'PostgreSQL is killed',
    lane,
    weight: 3,
    seconds: [0, 1],
    happen: async ({ database }) => {
      await database.kill();
      return () => database.start();
    },
  },
  {
    name: 'PostgreSQL stands still',
    lane,
    weight: 2,
    seconds: [0.5, 4],
    happen: async ({ database }) => {
      const stopped = database.processes();
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
    happen: async ({ database }) => {
      await database.losePower();
      return () => database.start();
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
];

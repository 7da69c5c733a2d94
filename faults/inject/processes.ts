/** Services that are killed, stopped for a while, ended, and whose clock goes wrong. */
import { signal } from '../../test/deploy/processes.ts';
import type { ServiceProcess } from '../stage/service-process.ts';
import type { Stage } from '../stage/stage.ts';
import type { Choice, Fault, Lane, Mend } from './fault.ts';

const HOUR_MS = 3_600_000;
const shiftMs = ({ dice }: Choice) => Math.round((dice * 2 - 1) * HOUR_MS);

type OfService = Omit<Fault, 'lane' | 'happen' | 'findObstacle'> & {
  readonly happen: (service: ServiceProcess, choice: Choice) => Promise<undefined | Mend>;
  readonly needsWorkers?: true;
};

const ROWS: readonly OfService[] = [
  {
    name: 'a service is killed',
    weight: 4,
    seconds: [0, 1],
    happen: async (service) => {
      await service.kill();
      return () => service.start();
    },
  },
  {
    name: 'a service is told to end',
    weight: 1,
    seconds: [0, 0.5],
    happen: async (service) => {
      await service.stop();
      return () => service.start();
    },
  },
  {
    name: 'a service stands still',
    weight: 4,
    // Longer than until others note that it is gone.
    seconds: [0.5, 7],
    happen: async (service) => {
      service.signal('SIGSTOP');
      return () => service.signal('SIGCONT');
    },
  },
  {
    name: 'a worker is killed',
    weight: 5,
    seconds: [0.5, 2],
    needsWorkers: true,
    happen: async (service, { dice }) => {
      const workers = service.processes().slice(1);
      if (workers.length === 0) throw new Error('no worker runs');
      signal([workers[Math.floor(dice * workers.length)]!], 'SIGKILL');
      return undefined;
    },
  },
  {
    name: 'a worker stands still',
    weight: 3,
    seconds: [0.5, 6],
    needsWorkers: true,
    happen: async (service, { dice }) => {
      const workers = service.processes().slice(1);
      if (workers.length === 0) throw new Error('no worker runs');
      const stopped = [workers[Math.floor(dice * workers.length)]!];
      signal(stopped, 'SIGSTOP');
      return () => signal(stopped, 'SIGCONT');
    },
  },
  {
    name: 'the clock of a service is wrong',
    weight: 2,
    seconds: [1, 5],
    shiftMs,
    happen: async (service, choice) => {
      service.shiftClock(shiftMs(choice));
      return () => service.shiftClock(0);
    },
  },
];

const LANE_OF: readonly Lane[] = ['first service', 'second service'];

export const PROCESSES: readonly Fault[] = LANE_OF.flatMap((lane, index) =>
  ROWS.filter(({ needsWorkers }) => !needsWorkers || index === 1).map(
    ({ happen, needsWorkers: _, ...row }) => ({
      ...row,
      lane,
      happen: async (stage: Stage, choice: Choice) => {
        const service = stage.service(index);
        if (!service.isRunning) throw new Error('the service does not run');
        return happen(service, choice);
      },
    }),
  ),
);

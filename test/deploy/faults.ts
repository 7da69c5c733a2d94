/** What happens to a primary and its standby. */
import type { HaCluster, Node } from './ha-cluster.ts';
import { signal } from './processes.ts';

export interface Fault {
  readonly name: string;
  /** Whether the other node becomes the primary. */
  readonly movesPrimary: boolean;
  /** Returns what mends it, if that needs a hand. */
  happen(cluster: HaCluster, primary: Node): Promise<(() => void) | undefined>;
}

const killPostgres: Fault = {
  name: 'the primary is killed',
  movesPrimary: true,
  happen: async (_, { postgres }) => {
    signal(postgres().slice(0, 1), 'SIGKILL');
    return undefined;
  },
};

const killMachine: Fault = {
  name: 'the machine of the primary loses power',
  movesPrimary: true,
  happen: async (_, { patroni, postgres, startPatroni }) => {
    signal([patroni(), ...postgres()], 'SIGKILL');
    return startPatroni;
  },
};

const pauseMachine: Fault = {
  name: 'the machine of the primary is paused',
  movesPrimary: true,
  happen: async (_, { patroni, postgres }) => {
    const paused = [patroni(), ...postgres()];
    signal(paused, 'SIGSTOP');
    return () => signal(paused, 'SIGCONT');
  },
};

const pausePatroni: Fault = {
  name: 'Patroni of the primary hangs',
  movesPrimary: true,
  happen: async (_, { patroni }) => {
    const pid = patroni();
    signal([pid], 'SIGSTOP');
    return () => signal([pid], 'SIGCONT');
  },
};

const cutOff: Fault = {
  name: 'the primary is cut off from etcd',
  movesPrimary: true,
  happen: async (_, { toEtcd }) => {
    toEtcd.cut();
    return () => toEtcd.mend();
  },
};

const switchOver: Fault = {
  name: 'an operator switches over',
  movesPrimary: true,
  happen: async (cluster, primary) => {
    await cluster.switchOver(primary);
    return undefined;
  },
};

const loseStandby: Fault = {
  name: 'the machine of the standby loses power',
  movesPrimary: false,
  happen: async (cluster, primary) => {
    const { patroni, postgres, startPatroni } = cluster.otherThan(primary);
    signal([patroni(), ...postgres()], 'SIGKILL');
    return startPatroni;
  },
};

export const FAULTS = {
  killPostgres,
  killMachine,
  pauseMachine,
  pausePatroni,
  cutOff,
  switchOver,
  loseStandby,
} as const;

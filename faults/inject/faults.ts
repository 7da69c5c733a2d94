/** All kinds of faults. */
import { CONNECTIONS } from './connections.ts';
import type { Fault } from './fault.ts';
import { NETWORK } from './network.ts';
import { PROCESSES } from './processes.ts';
import { PROVIDER } from './provider.ts';
import { RECEIVERS } from './receivers.ts';
import { SERVER } from './server.ts';

export const FAULTS: readonly Fault[] = [
  ...PROCESSES,
  ...SERVER,
  ...CONNECTIONS,
  ...NETWORK,
  ...PROVIDER,
  ...RECEIVERS,
];

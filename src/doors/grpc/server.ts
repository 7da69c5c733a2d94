/**
 * The control plane: gRPC services next to the REST interface, in the same process.
 *
 * Standard tools discover it by reflection, and health probes use `grpc.health.v1.Health`.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BudgetService } from '@boxoffice/contract/budget_service';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { parseRange } from '../../base/lib/address.ts';
import type { PemFiles } from '../../base/lib/pem-files.ts';
import type { Deps } from '../deps.ts';
import { budgetMethods } from './budgets.ts';
import { serveHealth } from './health.ts';
import { makeInterceptors } from './interceptors.ts';
import { MESSAGE_BYTES_MAX } from './limits.ts';
import { type Door, definitionOf, implementationOf } from './methods.ts';
import { moderationMethods } from './moderation.ts';
import { participantMethods } from './participants.ts';
import { serveReflection } from './reflection.ts';
import { roomMethods } from './rooms.ts';
import { credentialsOf } from './tls.ts';
import { tokenMethods } from './tokens.ts';
import { UNREAD_MS_MAX } from './unread.ts';
import { watchdogMethods } from './watchdogs.ts';

const SERVICES = [
  { service: RoomService, methods: roomMethods },
  { service: ParticipantService, methods: participantMethods },
  { service: ModerationService, methods: moderationMethods },
  { service: TokenService, methods: tokenMethods },
  { service: WatchdogService, methods: watchdogMethods },
  { service: BudgetService, methods: budgetMethods },
] as const;

const NAMES = SERVICES.map(({ service }) => service.typeName);

const STREAMS_PER_CONNECTION_MAX = 200;
/** How long a connection may have no call. Clients reconnect when they need to. */
const IDLE_MS_MAX = 5 * 60_000;
/** How long calls in progress may take to finish when the service stops. */
const DRAIN_MS = 10_000;
const DRAIN_CHECK_MS = 50;

export interface GrpcServer {
  readonly port: number;
  /** Accept no more calls, end the streams, finish calls in progress. */
  close(): Promise<void>;
}

export async function openGrpc(
  deps: Deps,
  options: {
    readonly host: string;
    readonly port: number;
    readonly tls: PemFiles | undefined;
    readonly trustProxy: readonly string[];
    /** Why calls should not be sent; `undefined`: the service is ready. */
    findFault(): Promise<string | undefined>;
    /** For tests. */
    readonly unreadMs?: number;
  },
): Promise<GrpcServer> {
  // The error is also thrown. By itself, the library would write it to the console, not to our log.
  setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION_MAX,
    'grpc.keepalive_time_ms': 60_000,
    'grpc.max_connection_idle_ms': IDLE_MS_MAX,
    // Counts calls for a service that this server does not offer.
    'grpc.enable_channelz': 0,
    interceptors: makeInterceptors(deps, options.unreadMs ?? UNREAD_MS_MAX),
  });
  const stopping = new AbortController();
  // Already validated when the configuration was read.
  const trusted = options.trustProxy.map((each) => parseRange(each)!);
  const door: Door = { deps, trusted, stopping: stopping.signal, underWay: new Set() };
  for (const { service, methods } of SERVICES) {
    server.addService(definitionOf(service), implementationOf(door, methods));
  }
  serveReflection(
    server,
    SERVICES.map(({ service }) => service),
  );
  const health = serveHealth(server, NAMES, options.findFault);

  const injector = server.createConnectionInjector(await credentialsOf(options.tls));
  // The library's own listener accepts every connection.
  const listener = createServer({ noDelay: true }, (socket) => {
    if (deps.connections.admit(socket)) injector.injectConnection(socket);
  });
  const port = await listen(listener, options);
  return {
    port,
    close: async () => {
      listener.close();
      health.stop();
      stopping.abort();
      // Sends GOAWAY. Its callback does not wait for calls on injected connections.
      server.tryShutdown(() => {});
      await drained(door);
      server.forceShutdown();
    },
  };
}

/**
 * Wait until no call is in progress, up to a limit. Clients that watch the health service never end their
 * streams.
 */
async function drained({ underWay }: Door): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  while (underWay.size > 0 && performance.now() < until) await sleep(DRAIN_CHECK_MS);
  // The last answer is still being sent.
  await sleep(DRAIN_CHECK_MS);
}

async function listen(
  listener: NetServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  listener.listen({ host, port });
  await once(listener, 'listening');
  return (listener.address() as AddressInfo).port;
}

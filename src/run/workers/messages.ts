/** Messages between the primary process and its workers. */
import type { Config } from '../config.ts';
import type { ServiceConfig } from '../service.ts';

/** Settings that only the primary knows. `number` counts from 1. */
export interface WorkerSettings {
  readonly number: number;
  readonly config: ServiceConfig;
  readonly logLevel: Config['logLevel'];
  readonly tracing: boolean;
}

/**
 * `fault` is answered with the result of `findFault()`, `metrics` with `getMetricsAsJSON()` of the registry.
 */
export type Question = 'fault' | 'metrics';

export type ToWorker =
  | { readonly type: 'start'; readonly settings: WorkerSettings }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'stop' };

/** `loaded` asks for the settings. `failed` is the last message of a worker that could not start. */
export type FromWorker =
  | { readonly type: 'loaded' }
  | { readonly type: 'serving'; readonly joinPort: number; readonly grpcPort: number }
  | { readonly type: 'failed'; readonly text: string }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown };

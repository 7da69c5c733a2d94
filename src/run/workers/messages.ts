/** What the process that was started and its workers tell each other. */
import type { Config } from '../config.ts';
import type { ServiceConfig } from '../service.ts';

/** What a worker does not find out by itself. `number` counts from 1. */
export interface WorkerSettings {
  readonly number: number;
  readonly config: ServiceConfig;
  readonly logLevel: Config['logLevel'];
  readonly tracing: boolean;
}

/** `fault` is answered as `findFault()` does, `metrics` as the `getMetricsAsJSON()` of a registry does. */
export type Question = 'fault' | 'metrics';

export type ToWorker =
  | { readonly type: 'start'; readonly settings: WorkerSettings }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'stop' };

/** `loaded` asks for the settings, `failed` is the last message of a worker that could not start. */
export type FromWorker =
  | { readonly type: 'loaded' }
  | { readonly type: 'serving'; readonly joinPort: number; readonly grpcPort: number }
  | { readonly type: 'failed'; readonly text: string }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown };

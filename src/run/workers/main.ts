/** The program of a worker: the service, with settings from the primary process. */
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { makeLog } from '../../base/telemetry/log.ts';
import { findFault } from '../../doors/ops/server.ts';
import { giveBackMemory } from '../give-back-memory.ts';
import { describeStartFailure, END_SIGNALS, endProcess, Opened } from '../lifetime.ts';
import { type Service, startService } from '../service.ts';
import { shrinkHeap } from '../shrink-heap.ts';
import type { FromWorker, Question, ToWorker, WorkerSettings } from './messages.ts';

/**
 * The other workers keep PostgreSQL busy while a commit reaches the disk. With as many transactions per
 * worker as a single process has, each would hold fewer batches, which costs a quarter of the requests.
 * Small batches do not wait behind large ones.
 */
const chargeLimits = { transactions: 2, ofOneKind: 1 };

const opened = new Opened();
let service: Service | undefined;

async function start({ number, config, logLevel, tracing }: WorkerSettings): Promise<void> {
  const log = makeLog(logLevel).child({ worker: number });
  endWhenAsked(log);
  try {
    if (tracing) {
      const { startTracing } = await import('../../base/telemetry/tracing.ts');
      const started = await startTracing();
      opened.add(() => started.close());
    }
    const started = await startService(config, log, { chargeLimits, whenLoaded: shrinkHeap });
    opened.add(() => started.stop());
    service = started;
    giveBackMemory();
    tell({ type: 'serving', joinPort: started.joinPort, grpcPort: started.grpcPort });
  } catch (error) {
    tell({ type: 'failed', text: describeStartFailure(error) }, () => process.exit(1));
  }
}

/**
 * The same interrupt may come from the terminal and, as a message, from the primary, so a second one
 * changes nothing here. The primary kills workers that must end at once.
 */
function endWhenAsked(log: Logger): void {
  let ending = false;
  const end = (reason: string) => {
    if (ending) return;
    ending = true;
    log.info({ reason }, 'stopping');
    void endProcess(opened, log);
  };
  for (const signal of END_SIGNALS) process.on(signal, () => end(signal));
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') end('asked to');
  });
  // Otherwise a worker whose primary was killed would end at once, with requests unanswered.
  cluster.worker!.exitedAfterDisconnect = true;
  process.on('disconnect', () => end('left alone'));
}

async function answer(question: Question): Promise<unknown> {
  const { deps } = service!;
  return question === 'fault' ? findFault(deps) : deps.metrics.registry.getMetricsAsJSON();
}

function tell(message: FromWorker, told = () => {}): void {
  // The primary may be gone.
  process.send?.(message, undefined, undefined, told);
}

process.on('message', async (message: ToWorker) => {
  if (message.type === 'start') await start(message.settings);
  if (message.type === 'ask') tell({ type: 'answer', id: message.id, value: await answer(message.question) });
});
tell({ type: 'loaded' });

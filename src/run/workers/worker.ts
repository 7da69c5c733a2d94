/** One worker, seen from the primary: a process, and the slot in which it is replaced. */
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { StartError } from '../../base/lib/start-error.ts';
import type { FromWorker, Question, ToWorker, WorkerSettings } from './messages.ts';

/** A worker that served this long did not fail immediately. */
const PROVEN_AFTER_MS = 10_000;
const RESTART_MS = { first: 1_000, max: 30_000 };

/** Longer than a worker waits for an unresponsive database, and shorter than Prometheus waits for metrics. */
const ANSWER_WITHIN_MS: Record<Question, number> = { fault: 15_000, metrics: 5_000 };

/** The ports that the settings left to the system. */
export interface Serving {
  readonly joinPort: number;
  readonly grpcPort: number;
}

/** How a process ended; `text` is its own error message. */
interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly text: string | undefined;
}

/** A process from start to end. */
export class WorkerProcess {
  /** Fails with `StartError` if the process ends first. */
  readonly serving: Promise<Serving>;
  readonly ended: Promise<End>;
  isServing = false;
  readonly #worker = cluster.fork();
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #questions = 0;

  constructor(settings: WorkerSettings) {
    const worker = this.#worker;
    const serving = Promise.withResolvers<Serving>();
    const ended = Promise.withResolvers<End>();
    this.serving = serving.promise;
    this.ended = ended.promise;
    let text: string | undefined;
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'loaded') this.#tell({ type: 'start', settings });
      if (message.type === 'failed') text = message.text;
      if (message.type === 'answer') this.#waiting.get(message.id)?.(message.value);
      if (message.type === 'serving') {
        this.isServing = true;
        serving.resolve(message);
      }
    });
    const end = (code: number | null, signal: string | null) => {
      this.isServing = false;
      const how = signal ?? `exit code ${code}`;
      serving.reject(new StartError(text ?? `worker ${settings.number} ended before it served (${how})`));
      ended.resolve({ code, signal, text });
    };
    worker.once('exit', end);
    worker.on('error', (error) => {
      // A broken channel is followed by the exit. A process that could not be spawned has no channel.
      if (worker.process.pid !== undefined) return;
      text = error.message;
      end(null, null);
    });
    this.serving.catch(() => {});
  }

  /** Fails if the answer does not come in time. */
  async ask(question: Question): Promise<unknown> {
    const id = this.#questions++;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    const giveUp = new AbortController();
    try {
      this.#tell({ type: 'ask', id, question });
      const late = sleep(ANSWER_WITHIN_MS[question], undefined, { signal: giveUp.signal });
      return await Promise.race([answer, Promise.race([late, this.ended]).then(refuse)]);
    } finally {
      giveUp.abort();
      this.#waiting.delete(id);
    }
  }

  /** Answer accepted requests, and end. A worker that does not serve yet has nothing to finish. */
  async stop(): Promise<void> {
    if (this.isServing) this.#tell({ type: 'stop' });
    else this.kill();
    await this.ended;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  #tell(message: ToWorker): void {
    this.#worker.send(message, () => {});
  }
}

function refuse(): never {
  throw new Error('no answer');
}

/** A slot that is always filled: a worker that ends is replaced, unless it was stopped. */
export class WorkerPlace {
  current: WorkerProcess;
  readonly #settings: WorkerSettings;
  readonly #log: Logger;
  readonly #stopping = new AbortController();

  constructor(settings: WorkerSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
    this.current = this.#open();
    this.current.serving.then(
      () => this.#replaceForEver(),
      () => {},
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.current.stop();
  }

  /** At once, but with growing delays if processes keep ending soon after their start. */
  async #replaceForEver(): Promise<void> {
    for (let failures = 0; ; ) {
      const begun = this.current.serving.then(() => performance.now()).catch(() => Infinity);
      const end = await this.current.ended;
      if (this.#stopping.signal.aborted) return;

      failures = performance.now() - (await begun) < PROVEN_AFTER_MS ? failures + 1 : 0;
      const waitMs = failures < 2 ? 0 : Math.min(RESTART_MS.first * 2 ** (failures - 2), RESTART_MS.max);
      this.#logEnd(end, waitMs);
      await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      this.current = this.#open();
    }
  }

  #open(): WorkerProcess {
    const opened = new WorkerProcess(this.#settings);
    const { number: worker } = this.#settings;
    opened.serving.then(
      () => this.#log.info({ worker, pid: opened.pid }, 'a worker serves'),
      () => {},
    );
    return opened;
  }

  #logEnd(end: End, waitMs: number): void {
    // A worker that was ended gracefully from outside is replaced too.
    const level = end.code === 0 ? 'info' : 'error';
    this.#log[level]({ worker: this.#settings.number, ...end, waitMs }, 'a worker ended and is replaced');
  }
}

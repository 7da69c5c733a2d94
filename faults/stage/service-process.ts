/** A service as `npm start` starts it, on ports that stay: it is killed and stopped, and starts again. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findLastingPort } from '../../test/deploy/lasting-port.ts';
import { startMainProcess } from '../../test/deploy/main-process.ts';
import { childrenOf, signal } from '../../test/deploy/processes.ts';
import { Gone } from './gone.ts';

const HOST = '127.0.0.1';
const CLOCK = new URL('../preload/shift-clock.ts', import.meta.url).href;
/** A start that fails, because the database does not come, is tried again. */
const RETRY_MS = 500;
/** Longer than PostgreSQL may take to come back, which a service needs to start. */
const START_MS_MAX = 300_000;
/** Lines of its log that an error repeats. */
const LOG_LINES = 5;

export interface ServiceSettings {
  readonly name: string;
  /** For its log, and the file that shifts its clock. */
  readonly folder: string;
  readonly workers: number;
  readonly env: Readonly<Record<string, string>>;
  /** Modules that it loads first: controls of a campaign change the service by them. */
  readonly preloads: readonly string[];
  /** How long its starts are tried. */
  readonly startMsMax?: number;
}

export class ServiceProcess {
  readonly url: string;
  /** Host and port. */
  readonly grpc: string;
  readonly workers: number;
  readonly #settings: ServiceSettings;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  /** Ends that no fault caused. */
  readonly surprises: string[] = [];
  #isKilled = false;
  #isClosed = false;

  private constructor(settings: ServiceSettings, ports: { readonly http: number; readonly grpc: number }) {
    this.#settings = settings;
    this.url = `http://${HOST}:${ports.http}`;
    this.grpc = `${HOST}:${ports.grpc}`;
    this.workers = settings.workers;
    const imports = [CLOCK, ...settings.preloads].map((file) => `--import=${file}`);
    this.#env = {
      ...settings.env,
      PORT: String(ports.http),
      GRPC_PORT: String(ports.grpc),
      WORKERS: String(settings.workers),
      NODE_OPTIONS: ['--disable-warning=ExperimentalWarning', ...imports].join(' '),
      FAULTS_CLOCK: this.#clockFile,
    };
  }

  static async reserve(settings: ServiceSettings): Promise<ServiceProcess> {
    const ports = { http: await findLastingPort(HOST), grpc: await findLastingPort(HOST) };
    const service = new ServiceProcess(settings, ports);
    service.shiftClock(0);
    return service;
  }

  get #clockFile(): string {
    return join(this.#settings.folder, `${this.#settings.name}.clock`);
  }

  get logFile(): string {
    return join(this.#settings.folder, `${this.#settings.name}.log`);
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The initial process, and those of its workers. */
  processes(): number[] {
    return this.isRunning ? [this.#child!.pid!, ...childrenOf(this.#child!.pid!)] : [];
  }

  /** Resolves when it serves; at once if it does. Throws `Gone` if no start succeeds in time. */
  async start(): Promise<void> {
    const { startMsMax = START_MS_MAX } = this.#settings;
    const deadline = performance.now() + startMsMax;
    let said = '';
    while (!this.isRunning && !this.#isClosed) {
      const msLeft = deadline - performance.now();
      if (msLeft <= 0) throw new Gone(this.#describeEnd(said, startMsMax));
      const complaint = await this.#tryToStart(msLeft);
      if (complaint === undefined) return;
      said = complaint || said;
      await sleep(RETRY_MS);
    }
  }

  /** Returns what it printed if it does not serve. If it only takes too long, it is killed. */
  async #tryToStart(msMax: number): Promise<string | undefined> {
    const log = openSync(this.logFile, 'a');
    this.#isKilled = false;
    const giveUp = setTimeout(() => this.#child?.kill('SIGKILL'), msMax);
    try {
      await startMainProcess(this.#env, { log, whenSpawned: (child) => this.#watch(child) });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    } finally {
      clearTimeout(giveUp);
      closeSync(log);
    }
  }

  #describeEnd(said: string, startMsMax: number): string {
    const log = lastLines(readFileSync(this.logFile, 'utf8'), LOG_LINES);
    return [
      `${this.#settings.name} did not start within ${startMsMax / 1_000} s`,
      `it said: ${lastLines(said, 1) || 'nothing'}`,
      `its log ends with: ${log || 'nothing'}`,
    ].join('; ');
  }

  /** SIGKILL to it and its workers. Resolves when they are gone. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    const pids = this.processes();
    signal(pids, 'SIGKILL');
    while (this.isRunning || pids.some((pid) => existsSync(`/proc/${pid}`))) await sleep(10);
  }

  /** SIGTERM: it finishes what is under way. */
  async stop(): Promise<void> {
    this.#isKilled = true;
    signal(this.processes().slice(0, 1), 'SIGTERM');
    while (this.isRunning) await sleep(10);
  }

  signal(name: NodeJS.Signals): void {
    signal(this.processes(), name);
  }

  /** Its end is no surprise any more, until it starts again. */
  expectEnd(): void {
    this.#isKilled = true;
  }

  /** Its clock goes wrong by so much; that of the database does not. */
  shiftClock(ms: number): void {
    writeFileSync(this.#clockFile, String(ms));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.signal('SIGCONT');
    await this.kill();
  }

  #watch(child: ChildProcess): void {
    this.#child = child;
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    let hasServed = false;
    child.stderr!.on('data', (part) => {
      hasServed ||= String(part).includes('Stop with Ctrl-C');
    });
    child.once('exit', (code, name) => {
      process.off('exit', end);
      if (hasServed && !this.#isKilled)
        this.surprises.push(`${this.#settings.name} ended by itself (${name ?? `exit code ${code}`})`);
    });
  }
}

/** In one line. */
function lastLines(text: string, count: number): string {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .slice(-count)
    .join(' | ');
}

/**
 * The clock of a campaign's PostgreSQL, which goes wrong alone: by libfaketime, where it is installed. What PostgreSQL waits for is
 * measured by another clock, which stays right.
 */
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProgram } from '../../src/run/embedded-postgres/user.ts';
import { openScratch } from '../../test/support/scratch.ts';

/** Debian's, which installs it beside the other libraries of the machine. */
const LIBRARIES = ['x86_64', 'aarch64'].map(
  (machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`,
);
/** Each process reads the file again when a second of its clock has passed. */
const NOTED_MS = 1_200;

export interface Clock {
  /** The server, on this clock. */
  readonly program: ServerProgram;
  /** Why it cannot be shifted; `undefined`: it can. */
  readonly limits: string | undefined;
  /** Resolves when all processes of the server have noted it. */
  shift(seconds: number): Promise<void>;
  remove(): Promise<void>;
}

export function openClock(program: ServerProgram, libraries: readonly string[] = LIBRARIES): Clock {
  const library = libraries.find((path) => existsSync(path));
  const nothing = async () => {};
  if (library === undefined)
    return { program, limits: 'there is no libfaketime', shift: nothing, remove: nothing };
  const scratch = openScratch('boxoffice-faults-clock-', { isOnDisk: true });
  const home = scratch.folder;
  let shifted = 0;
  writeShift(home, shifted);
  writeProgram(home, program, library);
  return {
    program: { ...program, home },
    limits: undefined,
    shift: async (seconds) => {
      if (seconds === shifted) return;
      shifted = seconds;
      writeShift(home, seconds);
      await sleep(NOTED_MS);
    },
    remove: () => scratch.remove(),
  };
}

/** It is never seen half written. */
function writeShift(home: string, seconds: number): void {
  const draft = join(home, 'shift.new');
  writeFileSync(draft, `${seconds < 0 ? '' : '+'}${seconds}`);
  chmodSync(draft, 0o644);
  renameSync(draft, join(home, 'shift'));
}

/** A program that becomes the server, with the library in it. The account of the server can reach it. */
function writeProgram(home: string, { home: original }: ServerProgram, library: string): void {
  const settings = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: join(home, 'shift'),
    FAKETIME_CACHE_DURATION: '0',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  const env = Object.entries(settings).map(([name, value]) => `${name}='${value}'`);
  const script = `#!/bin/sh\nexec env ${env.join(' ')} '${join(original, 'bin', 'postgres')}' "$@"\n`;
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'postgres'), script);
  for (const path of ['.', 'bin', 'bin/postgres']) chmodSync(join(home, path), 0o755);
}

/** All controls, one after another, each as a campaign in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openScratch } from '../test/support/scratch.ts';
import { CONTROLS, type Control } from './controls.ts';
import { NOT_SHOWN } from './verdict.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const NOT_FOUND = 1;

export interface Tried {
  readonly control: Pick<Control, 'name' | 'summary' | 'foundBy'>;
  /** The exit code of its campaign; `null`: it was killed. */
  readonly code: number | null;
  /** By its report, if there is one. */
  readonly tookSeconds: number | undefined;
  readonly cutShort: string | undefined;
}

/** `args`: options of each campaign. Ends early, after the control that is under way, when it is interrupted. */
export async function tryControls(
  args: readonly string[],
  interrupted: AbortSignal,
): Promise<readonly Tried[]> {
  const scratch = openScratch('boxoffice-faults-');
  const tried: Tried[] = [];
  try {
    for (const control of CONTROLS) {
      if (interrupted.aborted) break;
      const out = join(scratch.folder, `${control.name}.json`);
      const child = spawn(
        process.execPath,
        [...process.execArgv, MAIN, '--control', control.name, ...args, '--out', out],
        // It ends when this process does, which closes the channel.
        { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
      );
      const code = await exitCodeOf(child, interrupted);
      const { tookSeconds, cutShort } = existsSync(out) ? JSON.parse(readFileSync(out, 'utf8')) : {};
      tried.push({ control, code, tookSeconds, cutShort });
    }
  } finally {
    await scratch.remove();
  }
  return tried;
}

async function exitCodeOf(child: ChildProcess, interrupted: AbortSignal): Promise<number | null> {
  const interrupt = () => child.kill('SIGTERM');
  interrupted.addEventListener('abort', interrupt, { once: true });
  const [code] = await once(child, 'exit');
  interrupted.removeEventListener('abort', interrupt);
  return code;
}

/** A control that was not found is worse than one that was not tried. */
export function exitCodeOfAll(tried: readonly Tried[]): number {
  if (tried.some(({ code }) => code === NOT_FOUND)) return NOT_FOUND;
  return tried.length === CONTROLS.length && tried.every(({ code }) => code === 0) ? 0 : NOT_SHOWN;
}

/** As docs/campaign.md has it. */
export function renderTried(tried: readonly Tried[]): string {
  const rows = tried.map((each) => [
    `\`${each.control.name}\``,
    each.control.summary,
    each.control.foundBy.join('; '),
    resultOf(each),
  ]);
  const head = ['Control', 'What is wrong', 'One of these rules must find it', 'Found after'];
  return [head, ['---', '---', '---', '---:'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function resultOf({ code, tookSeconds, cutShort }: Tried): string {
  if (code === 0) return `${tookSeconds} s`;
  if (code === NOT_FOUND) return 'not found';
  return `not tried to its end: ${cutShort ?? 'it was killed'}`;
}

/** Runs the commands of a page in bash. Programs that a test answers for itself are functions there, which ask it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { MACHINE } from '../support/environment.ts';

export interface Call {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder in which the commands run. */
  readonly folder: string;
  /** The command was ended. */
  readonly signal: AbortSignal;
  print(text: string): void;
}

/** Answers for a program. What it throws is an error of the command. */
export type Program = (call: Call) => Promise<void>;

export interface Shell {
  /** The output of commands, which all have to succeed. With `until`, they are ended when they have printed that. */
  run(commands: string, options?: { readonly until?: string | undefined }): Promise<string>;
  /** Set a variable. */
  set(name: string, value: string): void;
  close(): Promise<void>;
}

/** Asks the test, prints what it answers line by line, and ends as it says. */
const ASK = `
const { ASKED, ...env } = process.env;
const [name, ...args] = process.argv.slice(2);
const answer = await fetch(ASKED, { method: 'POST', body: JSON.stringify({ name, args, env }) });
let rest = '';
for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const { printed, error } = JSON.parse(line);
    if (error === undefined) process.stdout.write(printed);
    else { process.stderr.write(error + '\\n'); process.exitCode = 1; }
  }
}`;

/** In this folder. Variables in capital letters last from one run to the next. */
export async function openShell(folder: string, programs: Readonly<Record<string, Program>>): Promise<Shell> {
  const server = createServer((request, response) => {
    void answerFor(programs, folder, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  writeFileSync(join(folder, '.ask.mjs'), ASK);
  const functions = Object.keys(programs).map((name) => `${name}() { node "$HERE/.ask.mjs" ${name} "$@"; }`);
  appendFileSync(join(folder, '.kept'), '');
  const begin = ['set -e -o pipefail', ...functions, '. "$HERE/.kept"'].join('\n');
  const environment = {
    ...MACHINE,
    // Commands find the Node of the tests.
    PATH: `${dirname(process.execPath)}:${MACHINE.PATH}`,
    HERE: folder,
    ASKED: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  return {
    run: async (commands, { until } = {}) => {
      const names = [...commands.matchAll(/^\s*(?:export )?([A-Z][A-Z_]*)=/gm)].map(([, name]) => name);
      const keep = names.length > 0 ? `declare -p ${names.join(' ')} >> "$HERE/.kept" 2> /dev/null || :` : '';
      const script = [begin, commands, keep].join('\n');
      return await runBash(script, { folder, environment, until });
    },
    set: (name, value) => appendFileSync(join(folder, '.kept'), `export ${name}='${value}'\n`),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answerFor(
  programs: Readonly<Record<string, Program>>,
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const ended = new AbortController();
  response.on('close', () => ended.abort());
  const say = (line: object) => response.write(`${JSON.stringify(line)}\n`);
  try {
    const { name, args, env } = JSON.parse(await text(request));
    await programs[name]!({ args, env, folder, signal: ended.signal, print: (printed) => say({ printed }) });
  } catch (error) {
    if (!ended.signal.aborted) say({ error: (error as Error).message });
  }
  response.end();
}

async function runBash(
  script: string,
  options: {
    readonly folder: string;
    readonly environment: NodeJS.ProcessEnv;
    readonly until: string | undefined;
  },
): Promise<string> {
  const { folder, environment, until } = options;
  // A group of its own, so that whatever it started ends with it.
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exit = once(child, 'close');
  const errors = text(child.stderr);
  let output = '';
  let isEnough = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (until === undefined || isEnough || !output.includes(until)) return;
    isEnough = true;
    process.kill(-child.pid!, 'SIGKILL');
  });
  const [code] = await exit;
  if (!isEnough && (until !== undefined || code !== 0)) {
    throw new Error(`the commands ended with ${code}: ${await errors}${output}`);
  }
  return output;
}

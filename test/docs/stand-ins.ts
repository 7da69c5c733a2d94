/**
 * Programs that the pages call, as the tests answer for them: `curl`, which not every machine has, `npm`, whose scripts would
 * take hours or run another service, and programs that `npx` would download.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runAdmin } from '../run/admin/support.ts';
import { ROOT, readPage } from './blocks.ts';
import type { Call, Program } from './shell.ts';

/** An answer to `curl`. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

interface Surroundings {
  /** The settings of the service, as commands of operators need them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Called with each answer. */
  readonly answered: (exchange: Exchange) => void;
  /** Called when a stream of events has begun: what happens now is in it. */
  readonly streaming: () => Promise<unknown>;
  /** The value that a reader takes from the answers so far for a variable, such as `KEY`. */
  readonly own: (variable: string) => string;
}

export function standIns(around: Surroundings): Readonly<Record<string, Program>> {
  return {
    curl: (call) => curl(call, around),
    npm: (call) => npm(call, around),
    npx,
    grpcurl,
    own: async ({ args: [variable = ''], print }) => print(around.own(variable)),
  };
}

/** Fails also with an answer that is no success. */
async function curl({ args, folder, signal, print }: Call, around: Surroundings): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      silent: { type: 'boolean', short: 's' },
      'no-buffer': { type: 'boolean', short: 'N' },
      request: { type: 'string', short: 'X' },
      header: { type: 'string', short: 'H', multiple: true },
      data: { type: 'string', short: 'd' },
    },
  });
  const { data, header = [] } = values;
  const body = data?.startsWith('@') ? readFileSync(join(folder, data.slice(1)), 'utf8') : data;
  const method = values.request ?? (body === undefined ? 'GET' : 'POST');
  const url = new URL(positionals[0]!);
  const headers = header.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
  // As the pages show it; each request has an address of its own there, so that no limit of an address is met.
  headers.push(['x-forwarded-for', '203.0.113.7']);
  const answer = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    await around.streaming();
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) print(chunk);
    return;
  }
  const text = await answer.text();
  around.answered({ method, path: url.pathname, status: answer.status, text });
  if (!answer.ok) throw new Error(`${method} ${url.pathname}: ${answer.status} ${text}`);
  print(`${text}\n`);
}

/** Runs commands of operators. Of every other script it checks that it is there, and takes what it is given. */
async function npm({ args, folder, print }: Call, { settings }: Surroundings): Promise<void> {
  const [own, given] = splitAt(args, '--');
  const { values, positionals } = parseArgs({
    args: own,
    allowPositionals: true,
    options: { silent: { type: 'boolean' }, workspace: { type: 'string', short: 'w' } },
  });
  const [name = ''] = positionals[0] === 'run' ? positionals.slice(1) : positionals;
  const { scripts } = JSON.parse(readPage(join(values.workspace ?? '', 'package.json')));
  if (!(name in scripts)) throw new Error(`no script is called "${name}"`);
  if (name === 'admin') {
    const paths = given.map((each) => (existsSync(join(folder, each)) ? join(folder, each) : each));
    const { code, out, err } = await runAdmin(settings, ...paths);
    if (code !== 0) throw new Error(`${given.join(' ')}: ${out}${err}`);
    print(out);
  } else if (name === 'test') {
    checkTests(given);
  } else if (given.length > 0) {
    await checkArguments(scripts[name], given);
  }
}

function splitAt(args: readonly string[], mark: string): [string[], string[]] {
  const at = args.indexOf(mark);
  return at < 0 ? [[...args], []] : [args.slice(0, at), args.slice(at + 1)];
}

/** Files and folders, words of names of tests in them, and projects. */
function checkTests(args: readonly string[]): void {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { t: { type: 'string', short: 't' }, project: { type: 'string' } },
  });
  for (const path of positionals) if (!existsSync(join(ROOT, path))) throw new Error(`${path} is not there`);
  if (values.project && !readPage('vitest.config.ts').includes(`name: '${values.project}'`)) {
    throw new Error(`no project is called "${values.project}"`);
  }
  const named = globSync(`${positionals[0]}/**/*.test.ts`, { cwd: ROOT }).filter((file) =>
    readPage(file).includes(values.t ?? ''),
  );
  if (values.t && named.length === 0) throw new Error(`no test is called "${values.t}"`);
}

const helps = new Map<string, Promise<string>>();

/** The help of the program of a script names each argument, or a name that begins with it. Values of options are not checked. */
async function checkArguments(script: string, args: readonly string[]): Promise<void> {
  const [program] = /[\w/-]+\.ts\b/.exec(script)!;
  const help = helps.get(program) ?? readHelp(program);
  helps.set(program, help);
  const isValue = (index: number) => args[index - 1]?.startsWith('--') && !args[index]!.startsWith('--');
  for (const [index, arg] of args.entries()) {
    if (!isValue(index) && !(await help).includes(` ${arg}`)) throw new Error(`${program} takes no ${arg}`);
  }
}

async function readHelp(program: string): Promise<string> {
  let help = '';
  const print = (text: string) => {
    help += text;
  };
  await runNode([join(ROOT, program), '--help'], { print });
  return help;
}

/** Programs that are here anyway. */
async function npx(call: Call): Promise<void> {
  const [program, ...args] = call.args.filter((each) => each !== '--silent');
  if (program === 'buf') return await buf(args, call);
  if (program !== '@boxoffice/sdk') throw new Error(`${program} is not here`);
  // A port that is free.
  const port = args[0] === 'whip-proxy' ? ['--port', '0'] : [];
  await runNode([join(ROOT, 'sdk/typescript/src/command/main.ts'), ...args, ...port], call);
}

/** The options that the pages use, as `buf curl` has them. */
async function grpcurl(call: Call): Promise<void> {
  const { values, positionals } = parseArgs({
    // Its long options have one dash.
    args: call.args.map((each) => (/^-[a-z]{2}/.test(each) ? `-${each}` : each)),
    allowPositionals: true,
    options: {
      plaintext: { type: 'boolean' },
      header: { type: 'string', short: 'H', multiple: true, default: [] },
      data: { type: 'string', short: 'd' },
    },
  });
  const [address, method] = positionals;
  if (!values.plaintext) throw new Error('without -plaintext it asks for TLS');
  const base = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge'];
  if (method === 'list') return await buf([...base, '--list-services', `http://${address}`], call);
  const headers = values.header.flatMap((each) => ['-H', each]);
  await buf([...base, ...headers, '-d', values.data ?? '{}', `http://${address}/${method}`], call);
}

const buf = (args: readonly string[], call: Call) =>
  runProgram(join(ROOT, 'node_modules/.bin/buf'), args, call);

const runNode = (args: readonly string[], call: Pick<Call, 'print'> & Partial<Call>) =>
  runProgram(process.execPath, args, call);

async function runProgram(
  program: string,
  args: readonly string[],
  { folder, env, signal, print }: Pick<Call, 'print'> & Partial<Call>,
): Promise<void> {
  const child = spawn(program, args, { cwd: folder, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', print);
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.slice(0, 3).join(' ')}: ${errors}`);
}

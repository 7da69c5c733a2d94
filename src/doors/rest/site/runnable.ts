/**
 * Commands that a page runs by itself, where the service has a sandbox.
 *
 * A block is marked behind its language, which no reader sees: `sh run KEY=api_key`. It runs as the requests that its lines of `curl` make.
 * Behind `run` is what later blocks take from the answers: `$KEY` is the member `api_key`, `$TENANT` of `TENANT=tenant.id` one
 * inside another.
 */
import { parseArgs } from 'node:util';

/** What the page sends. `$KEY` in its texts is replaced. */
export interface RunnableRequest {
  readonly method: string;
  /** At the service that has the page. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Runnable {
  readonly requests: readonly RunnableRequest[];
  /** Members of answers, by the name of the variable. */
  readonly keeps: Readonly<Record<string, string>>;
}

/** The service, as pages show it. */
const SERVICE = /^http:\/\/127\.0\.0\.1:8080(?=\/)/;
/** Lines that make no request: values of earlier steps, and the key of a device, which the page makes itself. */
const VALUE = /^[A-Z]+=\S+ +# yours$|^JWK=\$\(node -p /;

/**
 * `info`: what stands behind the fence of a block. `file`: what `-d @name` sends. `undefined`: the block is not marked.
 *
 * Throws for lines that a page cannot run.
 */
export function readRunnable(info: string, text: string, file: string | undefined): Runnable | undefined {
  const [, mark, ...keeps] = info.split(' ');
  if (mark !== 'run') return undefined;
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return {
    requests: lines.filter((line) => line !== '' && !VALUE.test(line)).map((line) => readCurl(line, file)),
    keeps: Object.fromEntries(keeps.map((keep) => keep.split('='))),
  };
}

function readCurl(line: string, file: string | undefined): RunnableRequest {
  const [program, ...args] = wordsOf(line);
  if (program !== 'curl') throw new Error(`a page cannot run this: ${line}`);
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      silent: { type: 'boolean', short: 's' },
      header: { type: 'string', short: 'H', multiple: true },
      data: { type: 'string', short: 'd' },
    },
  });
  const [address = ''] = positionals;
  if (!SERVICE.test(address) || positionals.length > 1)
    throw new Error(`a page cannot send this to the service: ${line}`);
  return {
    method: values.data === undefined ? 'GET' : 'POST',
    path: address.replace(SERVICE, ''),
    headers: Object.fromEntries((values.header ?? []).map((header) => header.split(/: (.*)/, 2))),
    body: values.data?.startsWith('@') ? file : values.data,
  };
}

/** As a shell reads them, without replacing variables. */
function wordsOf(line: string): string[] {
  const words = line.matchAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|(\S+)/g);
  return [...words].map(([, single, double, plain]) => single ?? double?.replace(/\\(.)/g, '$1') ?? plain!);
}

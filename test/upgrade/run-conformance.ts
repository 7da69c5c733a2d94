/**
 * `node run-conformance.ts <tree> <database url>`: the conformance suite of an old version, with its SDK and with the new one, while its service and
 * a new one take turns with each connection. Prints a line for each problem.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LANGUAGES } from '../../sdk/conformance/languages.ts';
import type { runLanguage } from '../../sdk/conformance/suite.ts';
import type { openWorld } from '../../sdk/conformance/world.ts';
import { ROOT } from './old-tree.ts';

const HOST = '127.0.0.1';
/** Requests of a key are counted in each process. */
const OF_ONE_PROCESS = 'refused: TOO_MANY_REQUESTS (rooms.get)';
const DRIVER = 'sdk/typescript/conformance/driver.ts';

const [root = '', databaseUrl = ''] = process.argv.slice(2);
const load = (file: string) => import(pathToFileURL(join(root, 'sdk/conformance', file)).href);
const old: {
  openWorld: typeof openWorld;
  runLanguage: typeof runLanguage;
  languages: Record<string, (typeof LANGUAGES)[string]>;
} = {
  openWorld: (await load('world.ts')).openWorld,
  runLanguage: (await load('suite.ts')).runLanguage,
  languages: (await load('languages.ts')).LANGUAGES,
};

/** Hands each connection on to the next of the ports. */
async function openTurns(ports: readonly number[]): Promise<Server> {
  let turn = 0;
  const server = createServer((near) => {
    const far = connect(ports[turn++ % ports.length]!, HOST);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay();
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroySoon());
      from.pipe(to);
    }
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

const world = await old.openWorld({ databaseUrl });
const child = await world.startChild();
const rest = await openTurns([world.service.port, child.port]);
const control = await openTurns([world.service.grpcPort, child.grpcPort]);
const service = { ...world.service, port: portOf(rest), grpcPort: portOf(control) };
try {
  for (const [sdk, tree] of Object.entries({ old: root, new: ROOT })) {
    old.languages.typescript = async () => ({ command: [process.execPath, join(tree, DRIVER)] });
    const result = await old.runLanguage('typescript', { ...world, service });
    for (const [name, { problems }] of result.steps) {
      if (name === OF_ONE_PROCESS) continue;
      for (const problem of problems) process.stdout.write(`the ${sdk} SDK, ${name}: ${problem}\n`);
    }
  }
} finally {
  rest.close();
  control.close();
  await world.close();
}

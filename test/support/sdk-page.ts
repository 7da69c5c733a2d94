/** A web server with a page that uses the SDK: the SDK's modules have their types stripped, and are not bundled. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';

const SDK = new URL('../../sdk/typescript/src/', import.meta.url);

export interface SdkPage {
  readonly origin: string;
  close(): Promise<unknown>;
}

/** `script`: the module that the page runs. It imports the SDK from `/sdk/`. */
export async function startSdkPage(script: URL): Promise<SdkPage> {
  const server = createServer(async ({ url = '/' }, response) => {
    if (url === '/') {
      response.setHeader('content-type', 'text/html');
      response.end('<link rel="icon" href="data:,"><script type="module" src="/page.js"></script>');
      return;
    }
    response.setHeader('content-type', 'text/javascript');
    const [, module] = /^\/sdk\/([\w/-]+\.ts)$/.exec(url) ?? [];
    response.end(
      module === undefined
        ? await readFile(script)
        : stripTypeScriptTypes(await readFile(new URL(module, SDK), 'utf8')),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

import ndc from 'node-datachannel';
import { Relay } from './relay.ts';
import { openServer } from './server.ts';
import { readSettings } from './settings.ts';

async function open() {
  const settings = readSettings(process.env);
  const relay = await Relay.open(settings);
  const server = openServer(relay, settings);
  await server.listen({ host: settings.host, port: settings.port });
  console.log(`relay ready at ${settings.url}`);
  return { relay, server };
}

const { relay, server } = await open().catch((error: Error) => {
  console.error(`the relay did not start: ${error.message}`);
  process.exit(1);
});

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, async () => {
    if (isStopping) return;
    isStopping = true;
    await relay.close();
    await server.close();
    // The library crashes if another part of the process still has a connection.
    ndc.cleanup();
    process.exit(0);
  });
}

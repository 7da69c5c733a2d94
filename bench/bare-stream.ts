/** The floor of a push: what a notification of the database says is written to each open stream. Nothing else is done. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { announce } from './process.ts';

const streams = new Set<ServerResponse>();
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': begun\n\n');
  streams.add(response);
  response.on('close', () => streams.delete(response));
});
const listener = new pg.Client(process.env.DATABASE_URL);
await listener.connect();
await listener.query('listen bench');
listener.on('notification', ({ payload }) => {
  const bytes = Buffer.from(`event: revocations\ndata: ${payload}\n\n`);
  for (const stream of streams) stream.write(bytes);
});
server.listen(0, '127.0.0.1', () => {
  announce((server.address() as AddressInfo).port, async () => {
    server.closeAllConnections();
    server.close();
    await listener.end();
  });
});

/** The floor of a relay: copies each packet that it gets to everyone who has said anything, by UDP, and encrypts nothing. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { announce } from './process.ts';

const HELLO_BYTES = 1;
const socket = createSocket('udp4');
const receivers = new Set<RemoteInfo>();
socket.on('message', (packet, from) => {
  if (packet.length === HELLO_BYTES) receivers.add(from);
  else for (const { port, address } of receivers) socket.send(packet, port, address);
});
socket.bind(0, '127.0.0.1', () => announce(socket.address().port, async () => void socket.close()));

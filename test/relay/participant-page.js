/** The page of a participant: joins, publishes a drawn picture and a tone, and gets the others, in single steps for a test. */
import { connect, createDevice, Session } from '/sdk/device/index.ts';

const device = await createDevice();
/** What happened, in order. */
const heard = [];
let session;
let connection;
let request;

/** A moving picture of this size, and a tone. */
function draw(width, height) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  let frame = 0;
  setInterval(() => {
    frame += 1;
    context.fillStyle = `hsl(${frame % 360} 80% 50%)`;
    context.fillRect(0, 0, width, height);
    context.fillStyle = 'white';
    context.fillRect((frame * 7) % width, height / 3, width / 8, height / 8);
  }, 40);
  const sound = new AudioContext();
  const tone = sound.createOscillator();
  const out = sound.createMediaStreamDestination();
  tone.connect(out);
  tone.start();
  return new MediaStream([...canvas.captureStream(25).getTracks(), ...out.stream.getTracks()]);
}

function hear(name, detail = {}) {
  heard.push({ name, at: Date.now(), ...detail });
}

function show(track) {
  const video = Object.assign(document.createElement('video'), {
    autoplay: true,
    muted: true,
    playsInline: true,
  });
  video.srcObject = new MediaStream([track]);
  document.body.append(video);
}

globalThis.participant = {
  heard,
  thumbprint: device.thumbprint,

  async join(given) {
    request = given;
    const grant = await device.join(request);
    session = new Session({ grant, renew: (options) => device.join(request, options) });
    for (const name of ['moderated', 'hostEnded', 'networkFailure', 'tokenExpired']) {
      session.on(name, ({ code }) => hear(name, { code }));
    }
    return grant.token;
  },

  /** As an application does it. `size`: of the picture to publish; without it, nothing is. */
  async connect({ relay, size, token }) {
    if (token !== undefined)
      session = { grant: { token }, ended: false, on: () => undefined, connectionRestored: () => undefined };
    const publish = size && draw(...size);
    connection = await connect(relay, {
      session,
      device,
      room: request.room,
      username: request.username,
      publish,
    });
    connection.on('muted', ({ kinds }) => hear('muted', { kinds }));
    connection.on('left', ({ username }) => hear('left', { username }));
    connection.on('track', ({ username, track }) => {
      hear('track', { username, kind: track.kind });
      show(track);
    });
  },

  refusal: (given) =>
    participant.connect(given).then(
      () => undefined,
      ({ code, status, reason }) => ({ code, status, reason }),
    ),

  /** Of all RTP, as this browser counted it. */
  async stats() {
    const peers = connection.peers;
    const reports = await Promise.all(peers.map((peer) => peer.getStats()));
    const rtp = reports
      .flatMap((report) => [...report.values()])
      .filter(({ type }) => /^(in|out)bound-rtp$/.test(type));
    return rtp.map((each) => ({
      direction: each.type,
      kind: each.kind,
      bytes: (each.bytesReceived ?? each.bytesSent) + (each.headerBytesReceived ?? each.headerBytesSent),
      frames: each.framesDecoded ?? each.framesEncoded ?? 0,
      width: each.frameWidth ?? 0,
    }));
  },

  /** How many connections carry media. */
  connected: () => connection.peers.filter(({ connectionState }) => connectionState === 'connected').length,

  close: () => connection.close(),
};

/** The page of a participant: joins, publishes a drawn picture and a tone, and gets the others, in single steps for a test. */
import { connect, createDevice, Session } from '/sdk/device/index.ts';

const device = await createDevice();
/** What happened, in order. */
const heard = [];
let session;
let connection;
let request;
let encoder;

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

/** A key whose bytes are all the same. */
const keyOf = (byte) => new Uint8Array(32).fill(byte);

/** Frames that have arrived, as the relay sent them: the first hundred. */
const tapped = [];

/** A worker that decrypts nothing, and hands on what arrives. */
function makeTap() {
  const source = `
    const tap = new BroadcastChannel('tap');
    addEventListener('rtctransform', async ({ transformer }) => {
      for await (const frame of transformer.readable) {
        const hex = Array.from(new Uint8Array(frame.data), (byte) => byte.toString(16).padStart(2, '0')).join('');
        if (hex) tap.postMessage({ codec: frame.getMetadata().mimeType, hex });
      }
    });
    postMessage({ type: 'ready' });`;
  new BroadcastChannel('tap').onmessage = ({ data }) => tapped.length < 100 && tapped.push(data);
  return new Worker(URL.createObjectURL(new Blob([source])));
}

/** A client that says that it encrypts, and does not. */
function sendPlain() {
  Object.defineProperty(RTCRtpSender.prototype, 'transform', { set() {} });
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

function hold(grant, renew) {
  session = new Session({ grant, renew, reconnectSeconds: request.reconnectSeconds });
  for (const name of ['moderated', 'hostEnded', 'networkFailure', 'tokenExpired']) {
    session.on(name, ({ code }) => hear(name, { code }));
  }
}

/** From now on, this codec is offered first. */
function prefer(codec) {
  const { getCapabilities } = RTCRtpReceiver;
  const isFirst = ({ mimeType }) => mimeType === codec;
  RTCRtpReceiver.getCapabilities = (kind) => {
    const { codecs } = getCapabilities.call(RTCRtpReceiver, kind);
    return { codecs: [...codecs.filter(isFirst), ...codecs.filter((each) => !isFirst(each))] };
  };
  const { addTransceiver } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.addTransceiver = function (media, options) {
    const added = addTransceiver.call(this, media, options);
    if ((media.kind ?? media) === 'video')
      added.setCodecPreferences(RTCRtpReceiver.getCapabilities('video').codecs);
    return added;
  };
}

globalThis.participant = {
  heard,
  thumbprint: device.thumbprint,

  async join(given) {
    request = given;
    const grant = await device.join(request);
    hold(grant, (options) => device.join(request, options));
    return grant.token;
  },

  /** A token that cannot be renewed. */
  async hold({ token, seconds, ...given }) {
    request = given;
    hold({ token, expiresAt: new Date(Date.now() + seconds * 1000) }, () =>
      Promise.reject(new Error('no renewal')),
    );
  },

  /** As an application does it. `size`, `screen`: of the pictures to publish; without them, nothing is. */
  async connect({ relay, size, screen, codec, token, key, worker, plain, tap }) {
    if (codec) prefer(codec);
    if (plain) sendPlain();
    if (token !== undefined)
      session = { grant: { token }, ended: false, on: () => undefined, connectionRestored: () => undefined };
    const publish = size && draw(...size);
    connection = await connect(relay, {
      session,
      device,
      room: request.room,
      username: request.username,
      publish,
      screen: screen && draw(...screen),
      encryptionKey: key && keyOf(key),
      encryptionWorker: tap ? makeTap : worker && (() => new Worker(worker, { type: 'module' })),
    });
    connection.on('muted', ({ kinds, own }) => hear('muted', { kinds, own }));
    connection.on('encryptionRequired', ({ username }) => hear('encryptionRequired', { username }));
    connection.on('left', ({ username }) => hear('left', { username }));
    connection.on('track', ({ username, kind, track }) => {
      hear('track', { username, kind });
      show(track);
    });
  },

  refusal: (given) =>
    participant.connect(given).then(
      () => undefined,
      ({ code, status, reason, message }) => ({ code, status, reason, message }),
    ),

  setKey: (key) => connection.setEncryptionKey(keyOf(key)),

  /** Returns the code of the error, if there is one. */
  publish: (size) =>
    connection.publish(draw(...size)).then(
      () => undefined,
      ({ code }) => code,
    ),

  tapped: () => tapped,
  muted: () => connection.muted,
  unmute: (kind) => connection.unmute(kind),

  /** Of all RTP, as this browser counted it. */
  async stats() {
    const peers = connection.peers;
    const reports = await Promise.all(peers.map((peer) => peer.getStats()));
    const all = reports.flatMap((report) => [...report.values()]);
    const codecOf = ({ codecId }) => all.find(({ id }) => id === codecId)?.mimeType;
    const rtp = all.filter(({ type }) => /^(in|out)bound-rtp$/.test(type));
    return rtp.map((each) => ({
      direction: each.type,
      kind: each.kind,
      bytes: (each.bytesReceived ?? each.bytesSent) + (each.headerBytesReceived ?? each.headerBytesSent),
      frames: each.framesDecoded ?? each.framesEncoded ?? 0,
      width: each.frameWidth ?? 0,
      codec: codecOf(each),
    }));
  },

  /** Publishes with one certificate in the offer and the proof, and another one in the connection. */
  async swap({ relay }) {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    const [shown, used] = [
      await RTCPeerConnection.generateCertificate(algorithm),
      await RTCPeerConnection.generateCertificate(algorithm),
    ];
    const fingerprint = shown.getFingerprints()[0].value;
    const peer = new RTCPeerConnection({ certificates: [used] });
    for (const track of draw(320, 180).getTracks()) peer.addTransceiver(track, { direction: 'sendonly' });
    await peer.setLocalDescription();
    while (peer.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 20));
    const body = peer.localDescription.sdp.replace(
      /(a=fingerprint:sha-256 )\S+/g,
      `$1${fingerprint.toUpperCase()}`,
    );
    const url = `${relay}/rooms/${request.room}/whip`;
    const token = session.grant.token;
    const asked = await fetch(url, { method: 'POST', headers: { authorization: `DPoP ${token}` }, body });
    const challenge = asked.headers.get('dpop-nonce');
    const proof = await device.proof({ token, challenge, url, method: 'POST', dtlsFingerprint: fingerprint });
    const headers = { authorization: `DPoP ${token}`, dpop: proof, 'content-type': 'application/sdp' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    const events = new EventSource(`${new URL(answer.headers.get('location'), relay)}/events`);
    events.addEventListener('end', ({ data }) => hear('end', JSON.parse(data)));
    await peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
    return answer.status;
  },

  /** How many connections carry media. */
  connected: () => connection.peers.filter(({ connectionState }) => connectionState === 'connected').length,

  close: () => connection.close(),

  /** The offer of an encoder, which knows nothing of tokens and proofs. */
  async encode() {
    encoder = new RTCPeerConnection();
    for (const track of draw(320, 180).getTracks()) encoder.addTransceiver(track, { direction: 'sendonly' });
    await encoder.setLocalDescription();
    while (encoder.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 20));
    return encoder.localDescription.sdp;
  },

  accept: (sdp) => encoder.setRemoteDescription({ type: 'answer', sdp }),

  /** Send nothing more, over connections that stay. */
  hush: () =>
    Promise.all(
      connection.peers.flatMap((peer) => peer.getSenders().map((sender) => sender.replaceTrack(null))),
    ),
};

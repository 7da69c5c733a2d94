/** The page of a kiosk: an application that uses the SDK, in single steps for a test. */
import { createDevice, Session } from '/sdk/device/index.ts';

const certificate = await RTCPeerConnection.generateCertificate({ name: 'ECDSA', namedCurve: 'P-256' });
const dtlsFingerprint = certificate.getFingerprints()[0].value;
const device = await createDevice();
let session;

globalThis.kiosk = {
  thumbprint: device.thumbprint,
  publicJwk: device.publicJwk,
  dtlsFingerprint,

  /** The session renews by itself; `grants` has every token in order. */
  async join(request) {
    const grant = await device.join(request);
    session = new Session({ grant, renew: (options) => device.join(request, options) });
    kiosk.grants = [grant];
    session.on('token', (renewed) => kiosk.grants.push(renewed));
    return grant;
  },

  /** The error of a join that is not retried. */
  async refusal(request) {
    const error = await device.join(request, { signal: AbortSignal.abort() }).catch((thrown) => thrown);
    const { code, message, status, retryAfterSeconds } = error;
    return { code, message, status, retryAfterSeconds };
  },

  prove: (request) => device.proof({ ...request, dtlsFingerprint }),

  /** A proof that names another device's public key, signed with the only private key there is. */
  async pretend({ publicJwk, ...request }) {
    const { privateKey } = await keptKey();
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    const publicKey = await crypto.subtle.importKey('jwk', publicJwk, algorithm, true, ['verify']);
    const pretender = await createDevice({ key: { privateKey, publicKey } });
    return await pretender.proof({ ...request, dtlsFingerprint });
  },

  /** What the page, or a script injected into it, can get out of the private key. */
  async exportPrivateKey() {
    const { privateKey } = await keptKey();
    const formats = ['jwk', 'pkcs8'];
    const attempts = formats.map((format) => crypto.subtle.exportKey(format, privateKey));
    return (await Promise.allSettled(attempts)).map(({ status }) => status);
  },
};

async function keptKey() {
  const settled = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await settled(indexedDB.open('boxoffice'));
  const key = await settled(database.transaction('keys').objectStore('keys').get('device'));
  database.close();
  return key;
}

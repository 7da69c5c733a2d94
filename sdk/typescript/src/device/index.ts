/** For devices, in browsers and in Node: a key, tokens that are bound to it, a session that renews them, media over relays. */
export {
  type ConnectOptions,
  connect,
  type EncryptionKey,
  type MediaKind,
  type RelayConnection,
  type RelayEvents,
} from './connect.ts';
export { createDevice, type Device, type DeviceOptions, type ProofRequest } from './device.ts';
export { generateDeviceKey, type KeyStore, type PublicJwk } from './device-key.ts';
export { ConnectError, EncryptionRequiredError, JoinError, type JoinErrorCode } from './errors.ts';
export type { Grant, JoinRequest } from './join.ts';
export { type Renewable, Session, type SessionEvents, type SessionOptions } from './session.ts';
export type { Timers } from './timers.ts';

/** Credentials for devices without a back end. Over the control plane, where a call can be repeated safely. */
import { TokenService } from '@boxoffice/contract/token_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control } from './control.ts';
import type {
  CreateDeviceCredentialRequest,
  DeviceCredential,
  ListDeviceCredentialsRequest,
  RevokeDeviceCredentialRequest,
  RotateDeviceCredentialRequest,
} from './control-types.ts';
import type { Listing } from './listing.ts';

/** A new credential. */
export interface CreatedCredential {
  /** The credential without its secret. */
  deviceCredential: DeviceCredential;
  /** The plaintext that the device presents; no later answer contains it. */
  credential: string;
}

/** The replacement of a credential. */
export interface RotatedCredential extends CreatedCredential {
  /** Until when the old one works. */
  oldCredentialRetireTime: Date;
}

const { method } = TokenService;

/** Device credentials: `boxoffice.deviceCredentials`. */
export class DeviceCredentials {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Create one. `credential` is the secret that the device presents; no later answer contains it. */
  async create(
    request: CreateDeviceCredentialRequest,
    options?: MutationOptions,
  ): Promise<CreatedCredential> {
    const { deviceCredential, credential } = await this.#control.mutate(
      method.createDeviceCredential,
      request,
      options,
    );
    return { deviceCredential: deviceCredential!, credential };
  }

  /** All of them, oldest first, including revoked ones. */
  list(request: ListDeviceCredentialsRequest = {}, options?: CallOptions): Listing<DeviceCredential> {
    return this.#control.list(method.listDeviceCredentials, 'deviceCredentials', request, options);
  }

  /** Replace one. The old one works on for `overlapSeconds`, by default a day. */
  async rotate(
    request: RotateDeviceCredentialRequest,
    options?: MutationOptions,
  ): Promise<RotatedCredential> {
    const answer = await this.#control.mutate(method.rotateDeviceCredential, request, options);
    const { deviceCredential, credential, oldCredentialRetireTime } = answer;
    return {
      deviceCredential: deviceCredential!,
      credential,
      oldCredentialRetireTime: oldCredentialRetireTime!,
    };
  }

  /** Revoke one at once. Relays end the sessions that it opened. */
  async revoke(request: RevokeDeviceCredentialRequest, options?: MutationOptions): Promise<DeviceCredential> {
    return (await this.#control.mutate(method.revokeDeviceCredential, request, options)).deviceCredential!;
  }
}

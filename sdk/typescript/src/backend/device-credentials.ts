/** Credentials for devices without a back end. Over the control plane, where a call can be repeated safely. */
import type { DeviceCredential as DeviceCredentialMessage } from '@boxoffice/contract/device_credential';
import {
  type CreateDeviceCredentialRequest,
  type ListDeviceCredentialsRequest,
  type RevokeDeviceCredentialRequest,
  type RotateDeviceCredentialRequest,
  TokenService,
} from '@boxoffice/contract/token_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control } from './control.ts';
import type { Listing } from './listing.ts';
import type { Plain, Request } from './plain.ts';

/** A credential without its secret. */
export type DeviceCredential = Plain<DeviceCredentialMessage>;

const { method } = TokenService;

/** Device credentials: `boxoffice.deviceCredentials`. */
export class DeviceCredentials {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Create one. `credential` is the secret that the device presents; no later answer contains it. */
  async create(
    request: Request<CreateDeviceCredentialRequest, 'name' | 'publish'>,
    options?: MutationOptions,
  ): Promise<{ deviceCredential: DeviceCredential; credential: string }> {
    const { deviceCredential, credential } = await this.#control.mutate(
      method.createDeviceCredential,
      request,
      options,
    );
    return { deviceCredential: deviceCredential!, credential };
  }

  /** All of them, oldest first, including revoked ones. */
  list(
    request: Request<ListDeviceCredentialsRequest> = {},
    options?: CallOptions,
  ): Listing<DeviceCredential> {
    return this.#control.list(method.listDeviceCredentials, 'deviceCredentials', request, options);
  }

  /** Replace one. The old one works on for `overlapSeconds`, by default a day. */
  async rotate(
    request: Request<RotateDeviceCredentialRequest, 'id'>,
    options?: MutationOptions,
  ): Promise<{ deviceCredential: DeviceCredential; credential: string; oldCredentialRetireTime: Date }> {
    const answer = await this.#control.mutate(method.rotateDeviceCredential, request, options);
    const { deviceCredential, credential, oldCredentialRetireTime } = answer;
    return {
      deviceCredential: deviceCredential!,
      credential,
      oldCredentialRetireTime: oldCredentialRetireTime!,
    };
  }

  /** Revoke one at once. Tokens that were minted with it stay valid until they expire. */
  async revoke(
    request: Request<RevokeDeviceCredentialRequest, 'id'>,
    options?: MutationOptions,
  ): Promise<DeviceCredential> {
    return (await this.#control.mutate(method.revokeDeviceCredential, request, options)).deviceCredential!;
  }
}

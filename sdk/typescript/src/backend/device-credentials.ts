/** What devices without a back end join with. Over the control plane, where a call can be repeated safely. */
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

/** Credentials of devices: `boxoffice.deviceCredentials`. */
export class DeviceCredentials {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Create one. `credential` is what the device shows; it is in no later answer. */
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

  /** All of them, the oldest first; revoked ones too. */
  list(
    request: Request<ListDeviceCredentialsRequest> = {},
    options?: CallOptions,
  ): Listing<DeviceCredential> {
    return this.#control.list(method.listDeviceCredentials, 'deviceCredentials', request, options);
  }

  /** Replace one, which works on for `overlapSeconds`: a day, unless told otherwise. */
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

  /** Revoke one at once. Tokens that were minted with it live until they lapse. */
  async revoke(
    request: Request<RevokeDeviceCredentialRequest, 'id'>,
    options?: MutationOptions,
  ): Promise<DeviceCredential> {
    return (await this.#control.mutate(method.revokeDeviceCredential, request, options)).deviceCredential!;
  }
}

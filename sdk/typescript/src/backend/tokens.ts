/** Tokens for participants. */
import {
  type MintClientTokenRequest,
  type MintClientTokenResponse,
  TokenService,
} from '@boxoffice/contract/token_service';
import type { CallOptions } from './calls.ts';
import type { Control } from './control.ts';
import type { Plain, Request } from './plain.ts';

/** A token for the given device, valid until `expireTime`. */
export type MintedToken = Plain<MintClientTokenResponse>;

/** Tokens: `boxoffice.tokens`. */
export class Tokens {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /**
   * Mint a token for one user, on one device, in one live room. A repeated attempt mints another
   * token, which is harmless.
   */
  async mint(
    request: Request<MintClientTokenRequest, 'room' | 'username' | 'deviceThumbprint'>,
    options?: CallOptions,
  ): Promise<MintedToken> {
    return await this.#control.query(TokenService.method.mintClientToken, request, options);
  }
}

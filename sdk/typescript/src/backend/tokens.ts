/** Tokens for participants. */
import { TokenService } from '@boxoffice/contract/token_service';
import type { CallOptions } from './calls.ts';
import type { Control } from './control.ts';
import type { MintClientTokenRequest, MintedToken } from './control-types.ts';

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
  async mint(request: MintClientTokenRequest, options?: CallOptions): Promise<MintedToken> {
    return await this.#control.query(TokenService.method.mintClientToken, request, options);
  }
}

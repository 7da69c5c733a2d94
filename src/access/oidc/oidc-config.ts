/** The issuer of OpenID Connect that a deployment trusts, and what the deployment is there. */

export interface OidcConfig {
  /** As the issuer itself writes it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What people call the issuer: `Log in with <name>`. */
  readonly name: string;
  /** People with this value in the claim `groups` are operators. `undefined`: operators do not log in this way. */
  readonly operatorsGroup: string | undefined;
}

/** Where the issuer sends people back to, at the console on `consoleUrl`. */
export const CALLBACK_PATH = '/console/login/oidc/callback';

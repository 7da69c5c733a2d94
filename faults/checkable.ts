/** What the checker gets when a campaign has settled. It returns one line for each problem. */

export interface Checkable {
  /** The path of the journal, which is closed. */
  readonly journal: string;
  /** Opens the database as its owner, without the proxy that faults are injected in. */
  readonly databaseUrl: string;
  readonly reads: Reads;
}

/** The views of the tenants, which a service answers now. */
export interface Reads {
  /** `t_...` of each tenant in the journal that can still be read. */
  readonly tenants: readonly string[];
  /** The body of a GET of the REST interface with a backend key of the tenant, such as `/v1/billing`. Fails if it is no success. */
  get(tenant: string, path: string): Promise<unknown>;
}

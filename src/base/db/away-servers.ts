/** The servers of a distributed database that are away, as this process has last read it from the coordinator. */

/** One of several, which has tenants. */
export interface DatabaseServer {
  readonly id: number;
  /** Host and port, by which the coordinator knows it. */
  readonly name: string;
  /** `null`: it answers. */
  readonly awaySeconds: number | null;
}

let away: ReadonlySet<number> = new Set();

/** Another set only if it has others. */
export function awayServers(): ReadonlySet<number> {
  return away;
}

export function setAwayServers(servers: readonly number[]): void {
  if (servers.length !== away.size || servers.some((each) => !away.has(each))) away = new Set(servers);
}

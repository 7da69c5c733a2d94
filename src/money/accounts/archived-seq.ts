/** How far the records of an account are archived. */

/** The last posting of the tenant `tenant` whose records are in chunks, as SQL; 0: none are. */
export const archivedSeq = (tenant: string) =>
  `(select archived_seq from accounts where tenant_id = ${tenant})`;

/** How far the records of an account are archived. */

/** The last posting of the tenant `tenant` whose records are in chunks, as SQL; 0: none are. */
export const archivedSeq = (tenant: string) =>
  `coalesce((select max(last_seq) from record_chunks where tenant_id = ${tenant}), 0)`;

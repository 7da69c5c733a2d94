/** Where rate limits are counted: one table that every process shares, made by the migrations. */
export const RATE_LIMITS_TABLE = {
  storeType: 'pool',
  tableName: 'rate_limits',
  tableCreated: true,
} as const;

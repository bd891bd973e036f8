/** Name of the table's one secondary index: sparse, keys `gpk` and `gsk`, projecting keys only. */
export const indexName = 'gsi'

/** Partition of the key ring, its evidence and its archive. */
export const keysPartition = 'KEYS'

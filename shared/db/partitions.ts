/**
 * What the partition keys of the table begin with: a prefix that ends with `#`, or a whole key such as
 * `KEYS`. IAM policies grant functions access by these values (infra/permissions.ts). So two kinds of items
 * share a value only if the same functions need access to both.
 */
export const partitions = [
  'ADDR#',
  'ADDRS#',
  'BL#',
  'BX#',
  'CLIENT#',
  'CODE#',
  'DEP#',
  'DEVICE#',
  'DIR#',
  'DL#',
  'EARN#',
  'EMAIL#',
  'ENDED#',
  'EVT#',
  'GUESS#',
  'KEYS',
  'MEMBER#',
  'NOTE#',
  'POOL#',
  'RATES',
  'SEARCH#',
  'SIGNIN#',
  'TEAM#',
  'TOKENS#',
  'TREE#',
  'USER#',
  'VERIFICATION',
  'W#',
  'WD#',
  'WL#',
] as const

/** The beginning of a partition key. */
export type Partition = (typeof partitions)[number]

/** Name of the only secondary index. It is sparse, has the keys `gpk` and `gsk`, and projects only keys. */
export const indexName = 'gsi'

/** Prefixes of partition keys that occur only in the index, not in the table. */
export const indexPartitions = ['WALLETS#'] as const

import type { RingKey } from './ring.ts'

/** A key that KMS has made and the ring does not know yet. */
export type MadeKey = Pick<RingKey, 'kid' | 'arn' | 'n' | 'e'>

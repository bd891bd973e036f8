import type { SigningKey } from './key-set.ts'

/** A key that KMS has made and the ring does not know yet. */
export type MadeKey = Pick<SigningKey, 'kid' | 'arn' | 'n' | 'e'>

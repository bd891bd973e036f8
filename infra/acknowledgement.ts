import type { IConstruct } from 'constructs'

/** A rule of the checks that does not hold here, for which constructs, and why that is right. */
export interface Acknowledgement {
  id: string
  reason: string
  applies: (construct: IConstruct) => boolean
}

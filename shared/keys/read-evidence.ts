import { Evidence, evidencePrefix } from './evidence.ts'
import { readRecords } from './read-records.ts'

/** All evidence, oldest first. */
export const readEvidence = (): Promise<Evidence[]> => readRecords(Evidence, evidencePrefix)

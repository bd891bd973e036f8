import { measureBundles } from './bundles/measure-bundles.ts'
import { measureOperations } from './operations/measure-operations.ts'
import type { Part } from './part.ts'

/** The parts of the benchmark, by the name that the option --part takes. */
export const parts: Record<string, Part> = {
  operations: { title: 'What an operation costs', inShort: true, run: measureOperations },
  bundles: { title: 'Bundles', inShort: true, run: measureBundles },
}

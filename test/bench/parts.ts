import { measureBundles } from './bundles/measure-bundles.ts'
import { measureColdStarts } from './cold-start/measure-cold-starts.ts'
import { measureGrowth } from './growth/measure-growth.ts'
import { measureOperations } from './operations/measure-operations.ts'
import type { Part } from './part.ts'
import { measurePeers } from './peers/measure-peers.ts'
import { measureStart } from './start/measure-start.ts'

/** The parts of the benchmark, by the name that the option --part takes. */
export const parts: Record<string, Part> = {
  operations: { title: 'What an operation costs', inShort: true, run: measureOperations },
  bundles: { title: 'Bundles', inShort: true, run: measureBundles },
  'cold-starts': { title: 'Cold starts', inShort: false, run: measureColdStarts },
  growth: { title: 'Growth', inShort: true, run: measureGrowth },
  peers: { title: 'Peers', inShort: false, run: measurePeers },
  start: { title: 'The start of the local stack', inShort: false, run: measureStart },
}

import { measureBundles } from './bundles/measure-bundles.ts'
import { measureColdStarts } from './cold-start/measure-cold-starts.ts'
import { measureGrowth } from './growth/measure-growth.ts'
import { measureLoad } from './load/measure-load.ts'
import { measureOperations } from './operations/measure-operations.ts'
import type { Part } from './part.ts'
import { measurePeers } from './peers/measure-peers.ts'
import { measureStart } from './start/measure-start.ts'
import { measureWarmRequests } from './warm/measure-warm-requests.ts'

/** The parts of the benchmark, by the name that the option --part takes. */
export const parts: Record<string, Part> = {
  operations: { title: 'What an operation costs', inShort: true, run: measureOperations },
  bundles: { title: 'Bundles', inShort: true, run: measureBundles },
  'cold-starts': { title: 'Cold starts', inShort: false, run: measureColdStarts },
  'warm-requests': { title: 'Warm requests', inShort: false, run: measureWarmRequests },
  growth: { title: 'Growth', inShort: true, run: measureGrowth },
  peers: { title: 'Peers', inShort: false, run: measurePeers },
  load: { title: 'Load', inShort: false, run: measureLoad },
  start: { title: 'The start of the local stack', inShort: false, run: measureStart },
}

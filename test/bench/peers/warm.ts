import { build } from 'esbuild'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleOptions } from '../../../infra/bundle/functions.ts'
import { makeCalls } from '../../infra/grants/calls.ts'
import { dataScenarios } from '../../infra/grants/data-scenarios.ts'
import { FunctionProcess } from '../cold-start/function-process.ts'
import { startRepeatingProxy } from '../cold-start/repeating-proxy.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { installPackage } from './install-package.ts'

/** Calls that let Node.js compile the code before it is measured, and calls of one sample. */
const [warmUps, calls] = [1_000, 100]

/** Measures the processor time of a warm GET /account/info, and of the same reads behind hono. */
export async function measureWarm({ samples }: Options, stack: BenchStack): Promise<Table[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-warm-'))
  const proxy = await startRepeatingProxy(stack.awsUrl)
  const { directory: installed, absent } = await installPackage('hono')
  const { file, environment } = stack.describe('account-info', proxy.url)
  const files: Record<string, string> = { 'this service': file }
  if (installed !== undefined) {
    // With the options of this service's own bundles, so that only the framework differs.
    await build({
      ...bundleOptions([]),
      entryPoints: { hono: 'test/bench/peers/hono-account-info.mjs' },
      outdir: directory,
      nodePaths: [join(installed, 'node_modules')],
    })
    files['hono, its Lambda adapter'] = join(directory, 'hono.mjs')
  }
  const candidates = Object.entries(files).map(([name, path]) => ({
    name,
    fn: new FunctionProcess(path, { ...environment, ...proxy.environment }),
  }))
  try {
    const event = await findEvent(candidates.map(({ fn }) => fn))
    const run = async ({ fn }: { fn: FunctionProcess }, times: number): Promise<number> => {
      let cpu = 0
      for (let i = 0; i < times; i += 1) {
        const answer = await fn.run(event)
        if (!answer.payload.includes('"statusCode":200')) throw new Error(answer.payload.slice(0, 500))
        cpu += answer.cpu
      }
      return cpu / times
    }
    await interleave(candidates, 1, (candidate) => run(candidate, warmUps))
    const measured = await interleave(candidates, samples, (candidate) => run(candidate, calls))
    const rows = candidates.map(({ name }, i): Row => {
      const [own = [], these = []] = [measured[0], measured[i]]
      const sorted = these.toSorted((a, b) => a - b)
      return {
        candidate: name,
        'CPU ms': round(median(these), 3),
        '× ours': round(median(these) / median(own), 3),
        least: round(sorted.at(0) ?? Number.NaN, 3),
        most: round(sorted.at(-1) ?? Number.NaN, 3),
      }
    })
    const missing = absent === undefined ? [] : [{ candidate: `hono: absent, ${absent}` }]
    const notes = [
      `A sample is the mean of ${calls} calls, after ${warmUps.toLocaleString('en-US')} calls. AWS answers after 5 ms, over TLS.`,
      'Ours also checks input, logs a line with metrics, and adds headers. hono does none of these.',
    ]
    const title = 'Processor time of a warm GET /account/info'
    return [{ name: 'warm', title, notes, rows: [...rows, ...missing] }]
  } finally {
    for (const { fn } of candidates) await fn.end()
    await proxy.close()
    rmSync(directory, { recursive: true })
  }
}

/** The event of a request that is answered with 200. Makes the proxy store AWS's answers to its calls. */
async function findEvent(functions: FunctionProcess[]): Promise<string> {
  let event = ''
  const callAll = makeCalls(async (payload) => {
    event = payload
    let answer = { payload: '' }
    for (const fn of functions) answer = await fn.run(payload)
    return { payload: answer.payload }
  })
  await dataScenarios['account-info']?.(callAll)
  return event
}

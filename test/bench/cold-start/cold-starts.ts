import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCalls } from '../../infra/grants/calls.ts'
import { bundleByDefault } from '../bundles.ts'
import { installPackage } from '../peers/install-package.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { openCpuQuota } from './cpu-quota.ts'
import { FunctionProcess } from './function-process.ts'
import { startRepeatingProxy } from './repeating-proxy.ts'

/** Memory size at which Lambda gives a function a whole processor (AWS: Configure Lambda function memory). */
const wholeProcessorMegabytes = 1769
/** The variable that makes a function warm up during init: see shared/http/warm-up.ts. */
const isOnLambda = 'AWS_LAMBDA_INITIALIZATION_TYPE'
const deployed = 'as deployed'
const withoutWarmUp = 'as deployed, no warm-up in init'
const byDefault = "esbuild's defaults"

/** Measures cold starts: the bundle's import at full speed, as in Lambda's init, then the first answer. */
export async function measureColdStarts({ samples }: Options, stack: BenchStack): Promise<Table[]> {
  const { dataScenarios } = await import('../../infra/grants/data-scenarios.ts')
  const directory = mkdtempSync(join(tmpdir(), 'bench-cold-'))
  const proxy = await startRepeatingProxy(stack.awsUrl)
  const quota = openCpuQuota()
  try {
    const { file, environment } = stack.describe('account-info', proxy.url)
    await bundleByDefault({ default: 'functions/account/info.ts' }, directory)
    const hono = await installPackage('hono')
    if (hono.directory !== undefined) {
      const modules = join(hono.directory, 'node_modules')
      await bundleByDefault({ hono: 'test/bench/peers/hono-account-info.mjs' }, directory, modules)
    }
    const files: Record<string, string> = {
      [deployed]: file,
      [withoutWarmUp]: file,
      [byDefault]: join(directory, 'default.cjs'),
      ...(hono.directory !== undefined && { 'hono, its Lambda adapter': join(directory, 'hono.cjs') }),
    }
    const start = async (name: string, megabytes: number | undefined, event: string) => {
      const env: Record<string, string> = { ...environment, ...proxy.environment }
      if (name === withoutWarmUp) Reflect.deleteProperty(env, isOnLambda)
      const fn = new FunctionProcess(files[name] ?? '', env)
      try {
        const evaluated = await fn.evaluated
        if (megabytes !== undefined) quota?.limit(fn.pid, megabytes / wholeProcessorMegabytes)
        const answered = await fn.run(event)
        if (!answered.payload.includes('"statusCode":200')) throw new Error(answered.payload.slice(0, 500))
        return { ...answered, evaluated: evaluated.wall, cpu: evaluated.cpu + answered.cpu }
      } finally {
        await fn.end()
      }
    }
    let event = ''
    const calls = makeCalls(async (payload) => {
      event = payload
      // Starts the function once, so that the proxy stores AWS's answers for all later starts.
      const answer = await start(deployed, undefined, payload)
      return { payload: answer.payload }
    })
    await dataScenarios['account-info']?.(calls)
    const memories = quota === undefined ? [undefined] : [undefined, 256, 1024]
    const candidates = memories.flatMap((megabytes) =>
      Object.keys(files).map((name) => ({ name, megabytes })),
    )
    const starts = await interleave(candidates, samples, ({ name, megabytes }) =>
      start(name, megabytes, event),
    )
    const medians = candidates.map((candidate, i) => ({
      ...candidate,
      evaluated: median((starts[i] ?? []).map(({ evaluated }) => evaluated)),
      answered: median((starts[i] ?? []).map(({ wall }) => wall)),
      cpu: median((starts[i] ?? []).map(({ cpu }) => cpu)),
    }))
    const rows = medians.map(({ name, megabytes, evaluated, answered, cpu }): Row => {
      const other = medians.find((one) => one.name === byDefault && one.megabytes === megabytes)
      const together = (other?.evaluated ?? Number.NaN) + (other?.answered ?? Number.NaN)
      return {
        candidate: `${name}, ${megabytes === undefined ? 'full speed' : `${megabytes} MB`}`,
        'evaluated ms': round(evaluated),
        'first answer ms': round(answered),
        'together ms': round(evaluated + answered),
        '× default': round((evaluated + answered) / together, 3),
        'CPU ms': round(cpu),
      }
    })
    const notes = [
      'Evaluated: the import of the bundle at full speed, as Lambda runs init, without the start of Node.js.',
      'First answer: at memory/1769 of a processor, by a control group; AWS answers after 5 ms, over TLS.',
    ]
    const absent = hono.absent === undefined ? [] : [{ candidate: `hono: absent, ${hono.absent}` }]
    const title = 'Cold starts of GET /account/info'
    return [{ name: 'cold-starts', title, notes, rows: [...rows, ...absent] }]
  } finally {
    quota?.close()
    await proxy.close()
    rmSync(directory, { recursive: true })
  }
}

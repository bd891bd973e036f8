import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Options } from '../part.ts'
import { interleave, median } from '../report/statistics.ts'
import { type Row, round, type Table } from '../report/table.ts'
import { type CpuQuota, openCpuQuota } from '../stack/cpu-quota.ts'
import { FunctionProcess } from '../stack/function-process.ts'
import { type RecordedEvent, recordEvent } from '../stack/record-event.ts'
import { type ReplayServer, startReplayServer } from '../stack/replay-server.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { bundleByDefault } from '../bundles/build-bundles.ts'
import { bundlePeers, type Peers } from '../peers/bundle-peers.ts'

/** A function whose start is measured, at some memory: undefined for the full speed of the machine. */
interface Candidate {
  name: string
  file: string
  recorded: RecordedEvent
  megabytes: number | undefined
}

/** Milliseconds of a start: of the import, from the first event to its answer, and of a processor. */
interface ColdStart {
  evaluated: number
  answered: number
  cpu: number
}

/** Memory at which Lambda gives a whole processor (AWS: Configure Lambda function memory). */
const wholeProcessorMegabytes = 1769
const unrehearsed = 'as deployed, no rehearsal in init'
/** The variable without which a function does not rehearse: see shared/http/signed-in-endpoint.ts. */
const isOnLambda = 'AWS_LAMBDA_INITIALIZATION_TYPE'
const byDefault = "esbuild's defaults"
const memories = [undefined, 256, 512, 1024]

/** Measures cold starts: the import at full speed, as in Lambda's init phase, then the first answer. */
export async function measureColdStarts(options: Options, stack: BenchStack): Promise<Table[]> {
  const { samples } = options
  const { dataScenarios } = await import('../../infra/grants/data-scenarios.ts')
  const directory = mkdtempSync(join(tmpdir(), 'bench-cold-'))
  const server = await startReplayServer()
  const quota = openCpuQuota()
  const peers = await bundlePeers(options, directory)
  try {
    const read = await recordEvent(stack, 'account-info', dataScenarios['account-info'] ?? fail)
    server.use(read.answers)
    const files = { ...(await bundleCandidates(stack, read, directory)), ...peers.files }
    const candidates = memories.flatMap((megabytes) =>
      Object.entries(files).map(([name, file]) => ({ name, file, recorded: read, megabytes })),
    )
    options.say(`${candidates.length} candidates, ${samples} times each`)
    const starts = await interleave(candidates, samples, (candidate) =>
      start(candidate, stack, server, quota),
    )
    return [describe(candidates, starts, quota, server, peers)]
  } finally {
    quota.close()
    await server.close()
    rmSync(directory, { recursive: true })
  }
}

const fail = (): never => {
  throw new Error('the tests of the grants have no scenario for this function')
}

/** Bundles the same endpoint in several ways, by the names under which they are printed. */
async function bundleCandidates(
  stack: BenchStack,
  { model }: RecordedEvent,
  directory: string,
): Promise<Record<string, string>> {
  await bundleByDefault({ default: 'functions/account/info.ts' }, directory)
  return {
    'as deployed': stack.describe(model).file,
    [unrehearsed]: stack.describe(model).file,
    [byDefault]: join(directory, 'default.cjs'),
  }
}

async function start(
  { name, file, recorded, megabytes }: Candidate,
  stack: BenchStack,
  server: ReplayServer,
  quota: CpuQuota,
): Promise<ColdStart> {
  const described = stack.describe(recorded.model, server.url)
  const environment: Record<string, string> = { ...described.environment, ...server.environment }
  if (name === unrehearsed) Reflect.deleteProperty(environment, isOnLambda)
  const process = new FunctionProcess({ ...described, file, environment })
  try {
    const { wall: evaluated, cpu: evaluatedCpu } = await process.evaluated
    const limit =
      megabytes === undefined ? undefined : quota.limit(process.pid, megabytes / wholeProcessorMegabytes)
    const { payload, failed, wall: answered, cpu } = await process.run(recorded.event)
    limit?.release()
    const { statusCode } = JSON.parse(payload) as { statusCode?: number }
    if (failed || statusCode !== 200) throw new Error(`a cold start answered ${payload.slice(0, 500)}`)
    return { evaluated, answered, cpu: evaluatedCpu + cpu }
  } finally {
    await process.end()
  }
}

function describe(
  candidates: readonly Candidate[],
  starts: readonly ColdStart[][],
  quota: CpuQuota,
  server: ReplayServer,
  { absent }: Peers,
): Table {
  const middle = (of: (start: ColdStart) => number, i: number) => median((starts[i] ?? []).map(of))
  const medians = candidates.map((candidate, i) => ({
    ...candidate,
    evaluated: middle(({ evaluated }) => evaluated, i),
    answered: middle(({ answered }) => answered, i),
    cpu: middle(({ cpu }) => cpu, i),
  }))
  const rows = medians.map(({ name, megabytes, evaluated, answered, cpu }): Row => {
    const other = medians.find((one) => one.name === byDefault && one.megabytes === megabytes)
    if (other === undefined) throw new Error('there is nothing to compare with')
    return {
      candidate: `${name}, ${megabytes === undefined ? 'full speed' : `${megabytes} MB`}`,
      'evaluated ms': round(evaluated),
      'first answer ms': round(answered),
      'together ms': round(evaluated + answered),
      '× default': round((evaluated + answered) / (other.evaluated + other.answered), 3),
      'CPU ms': round(cpu),
      '× default CPU': round(cpu / other.cpu, 3),
    }
  })
  for (const name of absent) rows.push({ candidate: `${name}: absent` })
  const calls = server.url.startsWith('https') ? 'over TLS' : 'without TLS, for lack of openssl'
  return {
    name: 'cold-starts',
    title: 'Cold starts of GET /account/info',
    notes: [
      `Medians of ${starts[0]?.length ?? 0}, interleaved. Evaluated: the import of the bundle at full speed, as Lambda runs init; without the start of Node.js, which is the same for all.`,
      `First answer: at memory/1769 of a processor, by ${quota.kind}; AWS answers after 5 ms, ${calls}.`,
    ],
    rows,
  }
}

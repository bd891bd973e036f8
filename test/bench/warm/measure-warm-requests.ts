import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scenario } from '../../infra/grants/calls.ts'
import { bundleByDefault } from '../bundles/build-bundles.ts'
import type { Options } from '../part.ts'
import { bundlePeers } from '../peers/bundle-peers.ts'
import { interleave, median } from '../report/statistics.ts'
import { round, type Table } from '../report/table.ts'
import { FunctionProcess } from '../stack/function-process.ts'
import { type RecordedEvent, recordEvent } from '../stack/record-event.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { writeAnswers } from '../stack/write-answers.ts'
import { measurePieces, yardstick } from './pieces.ts'

/** A warm function that repeats one request. */
interface Candidate {
  name: string
  process: FunctionProcess
  event: string
  /** How often the request is repeated for one measurement. */
  repeat: number
}

/** Requests before the first measurement, so that the code is compiled. */
const warmUp = 10

/** Measures the processor time of warm requests without the network: part 3. */
export async function measureWarmRequests(options: Options, stack: BenchStack): Promise<Table[]> {
  const { samples } = options
  const directory = mkdtempSync(join(tmpdir(), 'bench-warm-'))
  const peers = await bundlePeers(options, directory)
  const candidates = await startCandidates(stack, peers.files, directory)
  try {
    for (const { process, event, repeat } of candidates) await process.run(event, repeat * warmUp)
    const own = candidates.map((candidate) => ({ candidate, run: () => runOnce(candidate) }))
    const measured = await interleave([...own, { run: yardstick }], samples, ({ run }) => run())
    const unit = median(measured.at(-1) ?? [])
    const rows = own.map(({ candidate }, i) => {
      const cpu = median(measured[i] ?? [])
      return { request: candidate.name, 'CPU µs': round(cpu, 3), '× yardstick': round(cpu / unit, 3) }
    })
    const pieces = await measurePieces(samples)
    return [
      {
        name: 'warm-requests',
        title: 'Processor time of a warm request, without the network',
        notes: [
          `Medians of ${samples}, interleaved. AWS is answered in the process, so no socket is used.`,
          `The yardstick is ${round(unit, 3)} µs: reading and writing 1 KB of JSON, and its SHA-256, ten times.`,
        ],
        rows: [...rows, ...peers.absent.map((name) => ({ request: `${name}: absent` }))],
      },
      {
        name: 'request-pieces',
        title: 'The pieces of a warm request',
        notes: [
          'There is no routing: API Gateway finds the function. The frame is without its log line.',
          "The rest of a request is the AWS SDK's, and the work.",
        ],
        rows: pieces.map(({ piece, cpu }) => ({
          piece,
          'CPU µs': round(cpu, 3),
          '× yardstick': round(cpu / unit, 3),
        })),
      },
    ]
  } finally {
    await Promise.all(candidates.map(({ process }) => process.end()))
    rmSync(directory, { recursive: true })
  }
}

async function runOnce({ name, process, event, repeat }: Candidate): Promise<number> {
  const { payload, failed, cpu } = await process.run(event, repeat)
  if (failed || /"statusCode":[45]/.test(payload))
    throw new Error(`${name} answered ${payload.slice(0, 500)}`)
  return (cpu * 1000) / repeat
}

async function startCandidates(
  stack: BenchStack,
  peers: Record<string, string>,
  directory: string,
): Promise<Candidate[]> {
  const { operations } = await import('../operations/operations.ts')
  const scenarioOf = (title: string): { of: string; scenario: Scenario } => {
    const found = operations.find((operation) => operation.title === title)
    if (found === undefined) throw new Error(`there is no operation ${title}`)
    return found
  }
  const start = async (
    name: string,
    recorded: RecordedEvent,
    file: string,
    repeat = 50,
  ): Promise<Candidate> => {
    const answers = writeAnswers(recorded.answers, directory)
    const described = stack.describe(recorded.model)
    return {
      name,
      process: new FunctionProcess({ ...described, file, answers }),
      event: recorded.event,
      repeat,
    }
  }
  const candidates: Candidate[] = []
  for (const [title, repeat] of Object.entries({
    'GET /account/bills, 20 bills': 50,
    'GET /dashboard/overview': 50,
    'POST /user/login-with-password, authenticator': 2,
    'wallet.adjusted, a further bill': 20,
  })) {
    const { of, scenario } = scenarioOf(title)
    const recorded = await recordEvent(stack, of, scenario)
    candidates.push(await start(title, recorded, stack.describe(recorded.model).file, repeat))
  }
  const { of, scenario } = scenarioOf('GET /account/info')
  const read = await recordEvent(stack, of, scenario)
  const byDefault = join(directory, 'default.cjs')
  await bundleByDefault({ default: 'functions/account/info.ts' }, directory)
  const files = { 'as deployed': stack.describe(read.model).file, "esbuild's defaults": byDefault, ...peers }
  for (const [name, file] of Object.entries(files))
    candidates.push(await start(`GET /account/info, ${name}`, read, file))
  return candidates
}

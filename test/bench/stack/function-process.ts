import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { InvocationResult } from '../../../infra/local/runtime/runtime.ts'

/** What a function needs to run: its bundle, and its whole environment. */
export interface FunctionToRun {
  /** Path of the bundle. */
  file: string
  environment: Record<string, string>
  /** Time that each call has. */
  timeoutSeconds: number
  /** File with recorded answers, which replace the network. */
  answers?: string
}

/** An answer of a function, and what it took. */
export interface FunctionAnswer {
  payload: string
  /** Whether the handler threw. */
  failed: boolean
  /** Processor time in milliseconds. */
  cpu: number
  /** Time in milliseconds from sending the event to the answer. */
  wall: number
  /** Bytes of log that the function has written for this and earlier events, at least. */
  logBytes: number
}

/** The answer as Lambda's callers get it. */
export const toInvocation = ({
  payload,
  failed,
}: Pick<FunctionAnswer, 'payload' | 'failed'>): InvocationResult => ({
  payload,
  functionError: failed ? 'Unhandled' : undefined,
  requestId: '',
  logTail: '',
})

interface Message {
  kind: 'evaluated' | 'answered' | 'failed'
  payload?: string
  cpu: NodeJS.CpuUsage
  /** Milliseconds of the import. */
  wall?: number
}

const cpuOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** A function in a process of its own: what one execution environment is on Lambda. */
export class FunctionProcess {
  private readonly child: ChildProcess
  private readonly milliseconds: number
  private logBytes = 0
  private lastLog = ''
  /** What the import of the bundle took: time, and processor time. */
  readonly evaluated: Promise<{ wall: number; cpu: number }>

  constructor({ file, environment, timeoutSeconds, answers }: FunctionToRun) {
    this.milliseconds = timeoutSeconds * 1000
    this.child = fork(
      join(import.meta.dirname, 'function-entry.mjs'),
      [file, ...(answers === undefined ? [] : [answers])],
      {
        env: environment,
        execArgv: [],
        silent: true,
      },
    )
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.logBytes += chunk.length
        this.lastLog = (this.lastLog + chunk.toString()).slice(-2000)
      })
    this.evaluated = this.next().then(({ cpu, wall = Number.NaN }) => ({ wall, cpu: cpuOf(cpu) }))
    this.evaluated.catch(() => undefined)
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** Runs the handler with an event, as often as `repeat` says; the answer is the last one. */
  async run(event: string, repeat = 1): Promise<FunctionAnswer> {
    await this.evaluated
    const startedAt = performance.now()
    const answered = this.next()
    this.child.send({ event, milliseconds: this.milliseconds, repeat })
    const { kind, payload = '', cpu } = await answered
    const wall = performance.now() - startedAt
    return { payload, failed: kind === 'failed', cpu: cpuOf(cpu), wall, logBytes: this.logBytes }
  }

  /** Ends the process. */
  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await ended
  }

  private async next(): Promise<Message> {
    const controller = new AbortController()
    const { signal } = controller
    try {
      const ended = once(this.child, 'exit', { signal }).then(() => {
        throw new Error(`the function ended: ${this.lastLog}`)
      })
      const [message] = (await Promise.race([once(this.child, 'message', { signal }), ended])) as [Message]
      return message
    } finally {
      controller.abort()
    }
  }
}

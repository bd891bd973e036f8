import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

interface Message {
  payload?: string
  cpu: NodeJS.CpuUsage
  wall?: number
}

/** Elapsed time and processor time, in milliseconds. */
interface Taken {
  wall: number
  cpu: number
}

const cpuOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** A function in a process of its own, which stands for an execution environment of Lambda. */
export class FunctionProcess {
  readonly #child: ChildProcess
  #log = ''
  /** How long the import of the bundle took. */
  readonly evaluated: Promise<Taken>

  constructor(bundle: string, env: Record<string, string>) {
    const entry = join(import.meta.dirname, 'function-entry.mjs')
    this.#child = fork(entry, [bundle], { env, execArgv: [], silent: true })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#log = (this.#log + chunk.toString()).slice(-2000)))
    this.evaluated = this.#next().then(({ cpu, wall = Number.NaN }) => ({ wall, cpu: cpuOf(cpu) }))
    this.evaluated.catch(() => undefined)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Runs the handler with an event. Resolves with the handler's answer and the time that it took. */
  async run(event: string): Promise<Taken & { payload: string }> {
    await this.evaluated
    const startedAt = performance.now()
    const answered = this.#next()
    this.#child.send(event)
    const { payload = '', cpu } = await answered
    return { payload, cpu: cpuOf(cpu), wall: performance.now() - startedAt }
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async #next(): Promise<Message> {
    const controller = new AbortController()
    const { signal } = controller
    const ended = once(this.#child, 'exit', { signal }).then(() => {
      throw new Error(`the function ended: ${this.#log}`)
    })
    ended.catch(() => undefined)
    try {
      const [message] = (await Promise.race([once(this.#child, 'message', { signal }), ended])) as [Message]
      return message
    } finally {
      controller.abort()
    }
  }
}

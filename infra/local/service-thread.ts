import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * Calls the service's own code in a thread with its own environment variables, because that code reads the
 * table's name and its credentials from there. The thread starts with the first call.
 */
export class ServiceThread {
  private readonly environment: Record<string, string>
  private worker: Worker | undefined
  private last: Promise<unknown> = Promise.resolve()

  constructor(environment: Record<string, string>) {
    this.environment = environment
  }

  /** Calls an exported function of a module, by its path in this project. Calls run one after the other. */
  call<Called extends (...args: never[]) => Promise<unknown>>(
    module: string,
    name: string,
    ...args: Parameters<Called>
  ): ReturnType<Called> {
    const ask = async (): Promise<unknown> => {
      const entry = new URL('service-thread.mjs', import.meta.url)
      const worker = (this.worker ??= new Worker(entry, { env: this.environment, execArgv: [] }))
      const answered = once(worker, 'message')
      worker.postMessage({ module: new URL(`../../${module}`, import.meta.url).href, name, args })
      const [answer] = (await answered) as [{ value: unknown } | { problem: string }]
      if ('problem' in answer) throw new Error(answer.problem)
      return answer.value
    }
    const called = this.last.then(ask)
    this.last = called.catch(() => undefined)
    return called as ReturnType<Called>
  }

  async close(): Promise<void> {
    await this.worker?.terminate()
  }
}

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { KeyStatus } from '../../ops/keys/read-key-status.ts'

/** Reads the signing keys' records out of the stack's table. */
export interface KeyReader {
  read: () => Promise<KeyStatus>
  close: () => Promise<void>
}

/** Opens a reader; its thread starts with the first question, for most runs never ask. */
export function openKeyReader(stack: { region: string; awsUrl: string; table: string }): KeyReader {
  let worker: Worker | undefined
  let reading: Promise<KeyStatus> | undefined

  const ask = async (): Promise<KeyStatus> => {
    worker ??= new Worker(new URL('keys-worker.ts', import.meta.url), {
      env: {
        AWS_REGION: stack.region,
        AWS_ENDPOINT_URL: stack.awsUrl,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        TABLE_NAME: stack.table,
      },
      execArgv: [],
    })
    const answered = once(worker, 'message')
    worker.postMessage('read')
    const [answer] = (await answered) as [{ status: KeyStatus } | { problem: string }]
    if ('problem' in answer) throw new Error(answer.problem)
    return answer.status
  }
  return {
    // Those who ask meanwhile share the answer.
    read: () => (reading ??= ask().finally(() => (reading = undefined))),
    close: async () => {
      await worker?.terminate()
    },
  }
}

// Runs inside the thread of service-thread.ts: calls what it is asked to call, and answers with what came of
// it.
import { parentPort } from 'node:worker_threads'

parentPort.on('message', async ({ module, name, args }) => {
  try {
    const { [name]: call } = await import(module)
    parentPort.postMessage({ value: await call(...args) })
  } catch (error) {
    parentPort.postMessage({ problem: String(error) })
  }
})

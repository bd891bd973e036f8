// Reads the signing keys' records when asked. A thread of its own, because the code that knows these records takes the
// table and its credentials from the environment, and the local stack's own environment is not a function's.
import { parentPort } from 'node:worker_threads'
import { readKeyStatus } from '../../ops/keys/read-key-status.ts'

parentPort?.on('message', () => {
  readKeyStatus().then(
    (status) => parentPort?.postMessage({ status }),
    (error: unknown) => parentPort?.postMessage({ problem: String(error) }),
  )
})

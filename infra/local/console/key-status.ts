// Reads the signing keys' status in a worker: the code takes its table from environment variables.
export { readKeyStatus as handler } from '../../ops/keys/key-status.ts'

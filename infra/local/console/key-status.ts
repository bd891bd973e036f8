// Reads the status of the signing keys in a worker, because the code takes its table from environment
// variables.
export { readKeyStatus as handler } from '../../ops/keys/key-status.ts'

// Runs in a worker, because the code that reads the keys' records finds its table in the environment.
export { readKeyStatus as handler } from '../../ops/keys/key-status.ts'

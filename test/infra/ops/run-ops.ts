import { captureOps } from '../../../infra/ops/command-line.ts'
import { useLocalStack } from '../../support/local-stack.ts'

/** Runs an `npm run ops` command line in this process, against the local stack that the tests share. */
export async function ops(commandLine: string[], input = '') {
  const { base_url: url } = await useLocalStack()
  return captureOps(['--url', url, ...commandLine], input)
}

import { runOps } from '../../../infra/ops/command-line.ts'
import { useLocalStack } from '../../support/local-stack.ts'

/** Runs an `npm run ops` command line in this process, against the local stack that the tests share. */
export async function ops(
  commandLine: string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const { base_url: url } = await useLocalStack()
  const lines = { out: [] as string[], err: [] as string[] }
  const code = await runOps(['--url', url, ...commandLine], {
    out: (text) => void lines.out.push(text),
    err: (text) => void lines.err.push(text),
    readInput: async function* () {
      yield Buffer.from(input)
    },
  })
  return { code, out: lines.out.join('\n'), err: lines.err.join('\n') }
}

import { runOps } from '../../../infra/ops/command-line.ts'

/** Runs an `npm run ops` command line. Throws an Error with its output unless it exits with the code. */
export async function ops(commandLine: string[], expected = 0): Promise<string> {
  const lines: string[] = []
  const add = (text: string) => void lines.push(text)
  const code = await runOps(commandLine, {
    out: add,
    err: add,
    readInput: async function* () {},
  })
  const text = lines.join('\n')
  if (code === expected) return text
  throw new Error(`ops ${commandLine.join(' ')} exited with ${code}:\n${text}`)
}

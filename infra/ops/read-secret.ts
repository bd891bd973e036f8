import type { Terminal } from './terminal.ts'
import { UsageError } from './problems.ts'

/** Most bytes of standard input that are taken for a secret. */
const longest = 4_096

/** The first line of standard input: what must neither stand on a command line nor in a shell's history. */
export async function readSecret(terminal: Terminal, what: string): Promise<string> {
  let text = ''
  for await (const chunk of terminal.readInput()) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.includes('\n') || text.length > longest) break
  }
  const [line = ''] = text.split(/\r?\n/, 1)
  if (line === '') throw new UsageError(`standard input must hold the ${what}`)
  return line
}

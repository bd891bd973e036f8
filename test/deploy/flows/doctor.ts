import * as v from 'valibot'
import { runOps } from '../../../infra/ops/command-line.ts'
import type { Steps } from '../steps.ts'

const Report = v.object({
  checks: v.array(v.object({ check: v.string(), ok: v.boolean(), words: v.string() })),
})

/**
 * Runs `doctor`. Throws an Error that names what it found wrong with the stage. What it says about mail is
 * shown as a note, because it is about the account's SES and not about the deployment.
 */
export async function consultDoctor(target: string[], steps: Steps): Promise<void> {
  const lines: string[] = []
  const err: string[] = []
  await runOps([...target, 'doctor', '--json'], {
    out: (text) => void lines.push(text),
    err: (text) => void err.push(text),
    readInput: async function* () {},
  })
  if (err.length > 0) throw new Error(err.join('\n'))
  const failed = v.parse(Report, JSON.parse(lines.join('\n'))).checks.filter(({ ok }) => !ok)
  for (const { check, words } of failed) if (check === 'mail') steps.note(`mail: ${words}`)
  const wrong = failed.filter(({ check }) => check !== 'mail')
  if (wrong.length > 0) throw new Error(wrong.map(({ check, words }) => `${check}: ${words}`).join('\n'))
}

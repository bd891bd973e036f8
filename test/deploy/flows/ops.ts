import * as v from 'valibot'
import { captureOps } from '../../../infra/ops/command-line.ts'
import type { Steps } from '../steps.ts'

/** Runs an `npm run ops` command line. Throws an Error with its output unless it exits with 0. */
export async function ops(commandLine: string[]): Promise<string> {
  const { code, text } = await run(commandLine)
  if (code === 0) return text
  throw new Error(`ops ${commandLine.join(' ')} exited with ${code}:\n${text}`)
}

async function run(commandLine: string[]): Promise<{ code: number; text: string }> {
  const { code, out, err } = await captureOps(commandLine)
  return { code, text: [out, err].filter((text) => text !== '').join('\n') }
}

const Report = v.object({
  checks: v.array(v.object({ check: v.string(), ok: v.boolean(), words: v.string() })),
})

/** Where `doctor` looks. */
type Place = 'AWS' | 'ministack'

/**
 * Runs `doctor`. Throws an Error with the failed checks of the deployment, if any. A failed check of the AWS
 * account is only shown as a note.
 */
export async function consultDoctor(target: string[], steps: Steps, place: Place): Promise<void> {
  const { text } = await run([...target, 'doctor', '--json'])
  judgeReport(text, steps, place)
}

/** Reads a report of `doctor --json`. Throws an Error with the failed checks of the deployment, if any. */
export function judgeReport(text: string, steps: Steps, place: Place): void {
  if (!text.startsWith('{')) throw new Error(`doctor failed:\n${text}`)
  const failed = v.parse(Report, JSON.parse(text)).checks.filter(({ ok }) => !ok)
  const wrong: string[] = []
  for (const { check, words } of failed)
    if (['concurrency', 'mail', 'trail'].includes(check)) steps.note(`${check}: ${words}`)
    else if (place === 'ministack' && isRefusedPreflight(check, words))
      steps.note(`${check}: ministack answers preflights itself, with 403; API Gateway passes them on`)
    else wrong.push(`${check}: ${words}`)
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}

/**
 * API Gateway answers preflights itself only if CORS is configured there ("Configure CORS for HTTP APIs"),
 * which it is not: the function for unknown routes answers them.
 */
const isRefusedPreflight = (check: string, words: string): boolean =>
  check === 'page' && words.includes('is answered 403')

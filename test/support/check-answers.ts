import { readFileSync } from 'node:fs'
import { afterAll, inject } from 'vitest'
import type { AnswerCheck, ApiReference } from './described-answer.ts'

let answerCheck: Promise<AnswerCheck> | undefined

/** Reads the API reference. Called only when the test file gets its first answer from the API. */
async function openCheck(): Promise<AnswerCheck> {
  const response = await fetchAsIs(inject('apiReference'))
  if (!response.ok) throw new Error(await response.text())
  const { AnswerCheck } = await import('./described-answer.ts')
  return new AnswerCheck(JSON.parse(readFileSync(await response.text(), 'utf8')) as ApiReference)
}

const fetchAsIs = globalThis.fetch

/**
 * Compares the status and body of every API answer in a test with the API reference. Skips paths that are not
 * in the reference, such as `/_local`.
 */
globalThis.fetch = async (input, init) => {
  const response = await fetchAsIs(input, init)
  const request = new Request(
    input instanceof Request ? input.clone() : input,
    init?.method ? { method: init.method } : {},
  )
  const url = new URL(request.url)
  if (
    url.hostname === '127.0.0.1' &&
    response.headers.has('x-request-id') &&
    !url.pathname.startsWith('/_local')
  ) {
    await check(request.method, url.pathname, response.clone())
  }
  return response
}

afterAll(() => {
  globalThis.fetch = fetchAsIs
})

async function check(method: string, path: string, response: Response): Promise<void> {
  const { status, headers } = response
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
  const json: unknown = isJson && method !== 'HEAD' ? await response.json() : undefined
  const problem = (await (answerCheck ??= openCheck())).problemOf({ method, path, status, json })
  if (problem !== undefined) throw new Error(problem)
}

import { QueryClient } from '@tanstack/preact-query'
import createClient from 'openapi-fetch'
// The types come from the service's own description: `openapi-typescript openapi.json`.
import type { components, paths } from '../../../dist/openapi.d.ts'
import { ServiceFailure } from './failures.ts'
import { baseUrl, endSession, users } from './session.ts'

/** An object of the service, by the name that its description uses. */
export type Model<Name extends keyof components['schemas']> = components['schemas'][Name]

/** The query parameters of a list. */
export type Query<
  Path extends Extract<keyof paths, `${string}/bills` | `${string}/members` | `${string}/records`>,
> = paths[Path]['get']['parameters']['query']

/** The service's endpoints, with the types of their parameters and answers. */
export const api = createClient<paths>({ baseUrl })

/**
 * Keeps the text of a number if a double would change its digits: amounts have up to 18 decimals. `source` is
 * the text in the JSON (MDN: JSON.parse, reviver).
 */
const keepDigits = (_key: string, value: unknown, { source }: { source: string }): unknown =>
  typeof value === 'number' && String(value) !== source ? source : value

api.use({
  onRequest: async ({ request }) => {
    const user = await users.getUser()
    request.headers.set('authorization', `Bearer ${user?.access_token ?? ''}`)
  },
  onResponse: async ({ response }) => {
    if (!response.headers.get('content-type')?.startsWith('application/json')) return response
    const parsed: unknown = JSON.parse(await response.text(), keepDigits as never)
    return new Response(JSON.stringify(parsed), { status: response.status, headers: response.headers })
  },
})

/** The code that says that the session has ended. */
const unauthenticated = 40100

/** The answer to a request. */
export type Answer<Body> = Promise<{ data?: Body; error?: unknown; response: Response }>

/** Waits for an answer and returns its body. Throws a `ServiceFailure`; 40100 also ends the session. */
async function bodyOf<Body>(answer: Answer<Body>): Promise<Body> {
  const { data, error, response } = await answer.catch(() => ({ response: Response.error() }) as never)
  if (data !== undefined) return data
  const failure = new ServiceFailure(response, error)
  if (failure.code === unauthenticated) endSession()
  throw failure
}

/** Waits for an answer and takes the data out of its envelope. Throws as `bodyOf` does. */
export const dataOf = async <Data>(answer: Answer<{ data: Data }>): Promise<Data> =>
  (await bodyOf(answer)).data

/** Saves a CSV answer as a file. */
export async function saveFile(answer: Answer<Blob>, name: string): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await bodyOf(answer))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Headers and parser of a request for CSV. */
export const csv = { headers: { accept: 'text/csv' }, parseAs: 'blob' } as const

/** How often a request is repeated, and the longest wait that the app does by itself. */
const maxRetries = 3
const maxWaitSeconds = 60

/** Seconds after which to repeat a request that the service was too busy for (429 and 503); 0: not at all. */
export const waitOf = (error: Error | null): number =>
  error instanceof ServiceFailure && error.retryAfterSeconds <= maxWaitSeconds ? error.retryAfterSeconds : 0

const patiently = {
  networkMode: 'always',
  retry: (failures: number, error: Error) => failures < maxRetries && waitOf(error) > 0,
  retryDelay: (_failures: number, error: Error) => waitOf(error) * 1000,
} as const

/** Keeps answers, so that a page that was open before is there at once and then gets up to date. */
export const queryClient = new QueryClient({ defaultOptions: { queries: patiently, mutations: patiently } })

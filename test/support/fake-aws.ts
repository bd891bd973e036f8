import type { RequestListener } from 'node:http'
import { vi } from 'vitest'
import { serveHttp } from './serve-http.ts'

/** Runs `use` while this fake answers every call to AWS. Afterwards, unstubs all environment variables. */
export const fakeAws = <T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> =>
  serveHttp(listener, async (url) => {
    vi.stubEnv('AWS_ENDPOINT_URL', url)
    return use(url).finally(() => vi.unstubAllEnvs())
  })

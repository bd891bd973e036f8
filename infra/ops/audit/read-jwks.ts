import * as v from 'valibot'

const Discovery = v.object({ issuer: v.string(), jwks_uri: v.string() })
const Jwks = v.object({ keys: v.array(v.record(v.string(), v.unknown())) })

/** Fetches the JWKS through the discovery document, as clients do. Returns errors instead of throwing. */
export async function readJwks(baseUrl: string | undefined) {
  try {
    if (baseUrl === undefined)
      throw new Error('its address is not known: name that of the API with --base-url')
    const discovery = v.parse(
      Discovery,
      await (await get(`${baseUrl}/.well-known/openid-configuration`)).json(),
    )
    const response = await get(discovery.jwks_uri)
    const { keys } = v.parse(Jwks, await response.json())
    return {
      answered: true as const,
      keys,
      maxAgeSeconds: readMaxAge(response.headers.get('cache-control')),
      issuer: discovery.issuer,
    }
  } catch (error) {
    return { answered: false as const, problem: error instanceof Error ? error.message : String(error) }
  }
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response
}

function readMaxAge(cacheControl: string | null): number | undefined {
  const seconds = /max-age=(\d+)/.exec(cacheControl ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}

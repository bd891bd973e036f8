/**
 * Returns the address at which an emulator serves a URL of API Gateway: by path. Emulators name APIs like AWS
 * (`ID.execute-api.localhost`), but such names do not resolve everywhere, and under them ministack answers
 * `/oauth2/*` and `/login` as its Cognito. Other URLs are returned unchanged.
 */
export function emulatedAddress(url: URL, endpoint: string): URL {
  const [, id] = /^([a-z0-9]+)\.execute-api\./.exec(url.hostname) ?? []
  return id === undefined
    ? url
    : new URL(`/_aws/execute-api/${id}/$default${url.pathname}${url.search}`, endpoint)
}

/**
 * Makes `fetch` of this process reach the emulator's APIs, so that unmodified libraries work with the
 * addresses that the deployment gave itself.
 */
export function reachEmulator(endpoint: string): void {
  const { fetch } = globalThis
  globalThis.fetch = (input, init) =>
    input instanceof Request
      ? fetch(new Request(emulatedAddress(new URL(input.url), endpoint), input), init)
      : fetch(emulatedAddress(new URL(input), endpoint), init)
}

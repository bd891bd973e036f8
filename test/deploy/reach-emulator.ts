/**
 * Converts an API Gateway URL into an emulator URL with the API's id in the path. Returns other URLs
 * unchanged. The host name `ID.execute-api.localhost` cannot be used instead: some machines do not resolve
 * it, and its paths `/oauth2/*` and `/login` would reach ministack's Cognito.
 */
export function emulatedAddress(url: URL, endpoint: string): URL {
  const [, id] = /^([a-z0-9]+)\.execute-api\./.exec(url.hostname) ?? []
  return id === undefined
    ? url
    : new URL(`/_aws/execute-api/${id}/$default${url.pathname}${url.search}`, endpoint)
}

/**
 * Makes `fetch` in this process reach the emulator's APIs, so that unmodified libraries work with the API
 * URLs of the deployment.
 */
export function reachEmulator(endpoint: string): void {
  const { fetch } = globalThis
  globalThis.fetch = (input, init) =>
    input instanceof Request
      ? fetch(new Request(emulatedAddress(new URL(input.url), endpoint), input), init)
      : fetch(emulatedAddress(new URL(input), endpoint), init)
}

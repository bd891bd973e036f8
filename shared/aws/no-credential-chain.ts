/**
 * Stands in for `@aws-sdk/credential-provider-node` inside a bundle. Every client is made with the credentials of the
 * environment (client-options.ts), so the SDK's default chain is never asked; if it were, this says so.
 */
export const defaultProvider = () => () => {
  throw new Error('a client was made without clientOptions()')
}

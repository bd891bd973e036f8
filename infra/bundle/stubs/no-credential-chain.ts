/**
 * Replaces `@aws-sdk/credential-provider-node` in a bundle. Every client gets its credentials from
 * client-options.ts, so the default chain is never used; if it is, this throws.
 */
export const defaultProvider = () => () => {
  throw new Error('a client was made without clientOptions()')
}

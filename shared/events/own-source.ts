/**
 * The `source` of events that this service sends. It has a file of its own so that the infrastructure can
 * import it without loading an AWS client.
 */
export const ownSource = 'account-service'

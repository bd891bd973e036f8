/** Tag of every signing key; its value names the deployment, and policies grant access by it. */
export const signingKeyTagName = 'signing-key'

/** Tag with the id of the attempt that made the key. */
export const attemptTagName = 'signing-key-attempt'

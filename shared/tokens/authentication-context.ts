/**
 * The claims that say how the user signed in. They are the same for every sign-in: a password and a one-time
 * code. `amr` has the methods (RFC 8176 §2), `acr` the context class (OpenID Connect Core §2), a value of our
 * own, because no registered class means just this.
 */
export const authenticationContext = {
  amr: ['pwd', 'otp'],
  acr: 'urn:account-service:two-factors',
} as const

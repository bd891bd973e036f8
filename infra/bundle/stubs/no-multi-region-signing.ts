import { SignatureV4 } from '@smithy/signature-v4'

/**
 * Replaces `@aws-sdk/signature-v4-multi-region` in a bundle. EventBridge's client loads it for requests to
 * several regions at once (SigV4a), which no function makes.
 */
export class SignatureV4MultiRegion extends SignatureV4 {
  /** Tells the client that it has no SigV4a, and so signs with SigV4. */
  static sigv4aDependency(): 'none' {
    return 'none'
  }
}

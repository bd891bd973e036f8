import { SignatureV4 } from '@smithy/signature-v4'

/**
 * Stands for `@aws-sdk/signature-v4-multi-region` in a bundle, which EventBridge’s client loads for requests
 * to several regions at once (SigV4a). Not among the other stubs, or every bundle would have this base class.
 */
export class SignatureV4MultiRegion extends SignatureV4 {
  /** Tells the client that it has no SigV4a, and so signs with SigV4. */
  static sigv4aDependency(): 'none' {
    return 'none'
  }
}

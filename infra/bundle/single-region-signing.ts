import { SignatureV4 } from '@smithy/signature-v4'

/**
 * Replaces `@aws-sdk/signature-v4-multi-region`, which EventBridge’s client loads for requests to several
 * regions at once (SigV4a). In stubs.ts, this class would bring `SignatureV4` into every bundle.
 */
export class SignatureV4MultiRegion extends SignatureV4 {
  /** Tells the client that SigV4a is missing, so that it signs with SigV4. */
  static sigv4aDependency(): 'none' {
    return 'none'
  }
}

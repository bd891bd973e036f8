import { SignatureV4 } from '@smithy/signature-v4'

/**
 * Replaces `@aws-sdk/signature-v4-multi-region`, which EventBridge's client loads for requests to several
 * regions at once (SigV4a). Not in stubs.ts, which is in every bundle and would bring `SignatureV4` along.
 */
export class SignatureV4MultiRegion extends SignatureV4 {
  /** Makes the client sign with SigV4, because SigV4a is not available. */
  static sigv4aDependency(): 'none' {
    return 'none'
  }
}

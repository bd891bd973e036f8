import { SignatureV4 } from '@smithy/signature-v4'

/**
 * Replaces `@aws-sdk/signature-v4-multi-region`, which EventBridge’s client loads for requests to several
 * regions at once (SigV4a). It is not in stubs.ts, because every bundle would then contain `SignatureV4`.
 */
export class SignatureV4MultiRegion extends SignatureV4 {
  /** Tells the client that SigV4a is missing, so that it signs with SigV4. */
  static sigv4aDependency(): 'none' {
    return 'none'
  }
}

import { SignatureV4 } from '@smithy/signature-v4'

/**
 * Replaces `@aws-sdk/signature-v4-multi-region`, with which EventBridge's client signs for several regions
 * (SigV4a). Not in stubs.ts, which every bundle contains: then every bundle would contain `SignatureV4`, too.
 */
export class SignatureV4MultiRegion extends SignatureV4 {
  /** Makes the client sign with SigV4, because SigV4a is not available. */
  static sigv4aDependency(): 'none' {
    return 'none'
  }
}

/**
 * Names that IAM policies contain. They have a file of their own so that the infrastructure can import them
 * without loading an AWS client.
 */

/** Tag of every signing key in KMS. Its value names the deployment; IAM policies grant access by this tag. */
export const signingKeyTagName = 'signing-key'

/** Signing algorithm of KMS: RSASSA-PKCS1-v1_5 with SHA-256, which is RS256 (RFC 7518 §3.3). */
export const signingAlgorithm = 'RSASSA_PKCS1_V1_5_SHA_256'

/** The copies of the rotation's audit records (evidence) have S3 object keys that begin with this prefix. */
export const copiesPrefix = 'evidence/'

/** Partition key of three kinds of items: the key set, the audit records (evidence) and archived keys. */
export const keysPartition = 'KEYS' as const

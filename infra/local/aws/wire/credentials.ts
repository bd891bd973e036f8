import { createHash, randomBytes } from 'node:crypto'

/** What a function, or somebody in a role, signs their calls with. */
export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/**
 * An access key for a function, or for a role that people take on. The id is the same at every start, so that a function that is still
 * running over a restart stays who it is; DynamoDB Local takes only letters and digits.
 */
export function issueCredentials(holderArn: string): Credentials {
  const digest = createHash('sha256').update(holderArn).digest('hex').toUpperCase()
  return { accessKeyId: `ASIA${digest.slice(0, 16)}`, secretAccessKey: randomBytes(30).toString('base64') }
}

/**
 * The access key id of a Signature Version 4 Authorization header, undefined where there is none. The signature
 * itself is not checked: the endpoint listens on the loopback interface only, any credentials are welcome there,
 * and the functions' keys exist to tell them apart, not to keep anybody out.
 */
export function readAccessKeyId(authorization: string | undefined): string | undefined {
  return /^AWS4-\S+ Credential=([^/,\s]+)\//.exec(authorization ?? '')?.[1]
}

/**
 * The condition keys that requests here carry, in lower case (IAM compares names of keys without regard to it). A policy
 * with any other key is refused at start: it would silently never match, or always.
 */
const exact = new Set([
  'aws:principalaccount',
  'aws:principalarn',
  'aws:requestedregion',
  'aws:resourceaccount',
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'aws:tagkeys',
  'aws:viaawsservice',
  'dynamodb:attributes',
  'dynamodb:enclosingoperation',
  'dynamodb:leadingkeys',
  'dynamodb:returnvalues',
  'dynamodb:select',
  'events:detail-type',
  'events:source',
  'kms:calleraccount',
  'kms:encryptionalgorithm',
  'kms:encryptioncontextkeys',
  'kms:keyorigin',
  'kms:keyspec',
  'kms:keyusage',
  'kms:macalgorithm',
  'kms:messagetype',
  'kms:schedulekeydeletionpendingwindowindays',
  'kms:signingalgorithm',
  'kms:viaservice',
  'lambda:functionarn',
  'ses:fromaddress',
  'ses:fromdisplayname',
  'ses:recipients',
])

const prefixes = ['aws:requesttag/', 'aws:resourcetag/', 'kms:encryptioncontext:']

/** Whether requests to this endpoint carry the key wherever AWS's would. */
export function isKnownConditionKey(key: string): boolean {
  const lower = key.toLowerCase()
  return (
    exact.has(lower) || prefixes.some((prefix) => lower.startsWith(prefix) && lower.length > prefix.length)
  )
}

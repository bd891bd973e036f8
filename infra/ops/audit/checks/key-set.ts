import { toJwks } from '../../../../shared/keys/key-set.ts'
import type { Check, Finding } from '../controls.ts'
import type { Facts } from '../facts.ts'
import { digestKeySet } from './chain.ts'

/** How long after a transition the key set may be one that was read before it: table and key set are not read at one instant. */
const passingMilliseconds = 5_000

/** What everybody verifies by is what the records say, and nothing else. */
export const checkKeySet: Check = (facts) => {
  const { keySet, ring } = facts
  if (!keySet.answered)
    return [
      finding('key_set_unavailable', 'key set', `The public key set could not be read: ${keySet.problem}.`),
    ]
  const named = keySet.keys.map((key) => ({ key, kid: String(key['kid']) }))
  const expected = toJwks(ring?.keys ?? []).keys
  const passing = isPassing(facts, keySet.keys)
  return [
    ...named.flatMap(({ key, kid }) =>
      isHonest(key, facts)
        ? []
        : [finding('wrong_kid', kid, 'The public key set names a key by a kid that is not its thumbprint.')],
    ),
    ...named
      .filter(({ kid }) => !passing && !expected.some((key) => key.kid === kid))
      .map(({ kid }) =>
        finding(
          'foreign_key',
          kid,
          'The public key set holds a key that the records do not publish: whoever has its private half can sign tokens.',
        ),
      ),
    ...expected
      .filter(({ kid }) => !passing && !named.some((entry) => entry.kid === kid))
      .map(({ kid }) =>
        finding(
          'key_not_published',
          kid,
          'The records publish this key, but the public key set lacks it: its tokens do not verify.',
        ),
      ),
    ...longLived(facts),
  ]
}

const finding = (name: string, subject: string, message: string): Finding => ({
  finding: name,
  controls: ['published-keys'],
  subject,
  message,
})

function isHonest(key: Record<string, unknown>, { thumbprints }: Facts): boolean {
  const { kty, kid, alg, use } = key
  return (
    kty === 'RSA' && alg === 'RS256' && use === 'sig' && kid !== undefined && thumbprints.get(key) === kid
  )
}

/** Whether the key set is the one from before a transition that came while the facts were gathered. */
function isPassing({ at, evidence }: Facts, keys: unknown[]): boolean {
  const digest = digestKeySet(keys)
  return evidence.some(
    ({ record }) =>
      record !== undefined && at - record.at <= passingMilliseconds && record.jwks_sha256_before === digest,
  )
}

function longLived({ keySet, settings }: Facts): Finding[] {
  const longest = Math.floor(settings.signingKeyPublishSeconds / 2)
  const seconds = keySet.answered ? keySet.maxAgeSeconds : undefined
  if (seconds !== undefined && seconds <= longest) return []
  return [
    finding(
      'cached_too_long',
      'key set',
      `The public key set may be cached for ${seconds ?? 'any number of'} seconds, more than half of the ${settings.signingKeyPublishSeconds} for which a new key is published before it signs.`,
    ),
  ]
}

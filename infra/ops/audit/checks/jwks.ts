import * as v from 'valibot'
import { signingKeyTagName } from '../../../../shared/aws/signing-key-names.ts'
import { Jwk, thumbprint, toJwks } from '../../../../shared/keys/set.ts'
import { type Check, found } from '../controls.ts'
import { isGenuine } from './evidence.ts'

/**
 * Checks that the JWKS contains the keys that the records list as published, and no others. Also checks that
 * clients do not cache the JWKS for too long.
 */
export const checkJwks: Check = function* (facts) {
  const { jwks, keySet, settings } = facts
  if (!jwks.answered) {
    yield found('key_set_unavailable', 'key set', `The JWKS could not be read: ${jwks.problem}.`)
    return
  }
  for (const key of jwks.keys)
    if (!isConsistent(key))
      yield found('wrong_kid', String(key['kid']), 'A key in the JWKS has a kid that is not its thumbprint.')
  const publishedKids = new Set(jwks.keys.map((key) => String(key['kid'])))
  const recordedKids = new Set(toJwks(keySet?.keys ?? []).keys.map(({ kid }) => kid))
  // The rotation made a key if genuine evidence names the key, or if the key has the stage's tag in KMS.
  const madeKids = new Set([
    ...facts.evidence.map((row) => isGenuine(row, facts) && row.record?.new_kid),
    ...facts.kms.map(({ tags, thumbprint }) => tags[signingKeyTagName] === facts.tag && thumbprint),
  ])
  for (const kid of publishedKids) {
    const words = madeKids.has(kid) ? 'is not on record' : 'the rotation did not make'
    const message = `The JWKS contains a key that ${words}: whoever has its private half can sign tokens.`
    if (!recordedKids.has(kid) || !madeKids.has(kid)) yield found('foreign_key', kid, message)
  }
  for (const kid of [...recordedKids].filter((one) => !publishedKids.has(one)))
    yield found(
      'key_not_published',
      kid,
      'A key on record is missing from the JWKS: its tokens do not verify. Right after a rotation, audit again.',
    )
  const maxCacheSeconds = Math.floor(settings.signingKeyPublishSeconds / 2)
  if (jwks.maxAgeSeconds === undefined || jwks.maxAgeSeconds > maxCacheSeconds)
    yield found(
      'cached_too_long',
      'key set',
      `Clients may cache the JWKS for ${jwks.maxAgeSeconds ?? 'any number of'} seconds. That is more than half of the ${settings.signingKeyPublishSeconds} seconds for which a new key is published before it signs.`,
    )
}

/** Whether a key in the JWKS is an RSA signing key whose kid is its RFC 7638 thumbprint. */
const isConsistent = (key: Record<string, unknown>): boolean => v.is(Jwk, key) && key.kid === thumbprint(key)

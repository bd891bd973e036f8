import { signingKeyTagName } from '../../../../shared/aws/signing-key-names.ts'
import type { SigningKey } from '../../../../shared/keys/set.ts'
import { canonicalJson } from '../../../../shared/canonical-json.ts'
import { otherRegion } from '../../../../shared/keys/kms.ts'
import { signingKeyPolicy } from '../../../signing-key-policy.ts'
import { type Check, type Finding, found } from '../controls.ts'
import type { Facts, KmsKey } from '../facts.ts'

/**
 * Checks that KMS agrees with the records: keys in use are enabled, retired keys are disabled, and every key
 * is on record.
 */
export const checkKms: Check = function* (facts) {
  const recorded = [...(facts.keySet?.keys ?? []), ...facts.archive]
  for (const key of recorded) {
    const inKms = facts.kms.find(({ arn }) => arn === key.arn)
    if (inKms === undefined) continue
    yield* checkState(key, inKms, facts)
    yield* checkProperties(key, inKms, facts)
  }
  for (const inKms of facts.kms)
    if (!recorded.some(({ arn }) => arn === inKms.arn)) yield* checkUnrecorded(inKms, facts)
  for (const inKms of facts.kms) {
    yield* checkDeletion(inKms, recorded, facts)
    yield* checkPolicy(inKms, facts)
  }
}

function* checkState(key: SigningKey, { state }: KmsKey, { archive }: Facts): Generator<Finding> {
  if (state === 'Denied')
    yield found(
      'key_hidden',
      key.kid,
      'KMS denies the auditor access to the key: its tag or its policy was changed.',
    )
  else if (state === otherRegion && key.state !== 'retired')
    yield found(
      'key_in_other_region',
      key.kid,
      `The key is ${key.state} on record, and its private half is in another region (${key.arn}), which this audit does not see.`,
    )
  else if (key.state !== 'retired' && state !== 'Enabled')
    yield found(
      'disabled_behind_the_service',
      key.kid,
      `The key is ${key.state} on record but ${state} in KMS, and no evidence explains that. CloudTrail names the caller (DisableKey, ScheduleKeyDeletion).`,
    )
  // Only archived keys must be disabled: a key that has just been retired is disabled by the next rotation
  // run.
  else if (key.state === 'retired' && state === 'Enabled' && archive.includes(key))
    yield found('retired_but_enabled', key.kid, 'The key is retired, but KMS would still sign with it.')
}

function* checkProperties(key: SigningKey, inKms: KmsKey, { tag }: Facts): Generator<Finding> {
  if (['Missing', 'Denied', otherRegion].includes(inKms.state)) return
  const problem = (text: string) => found('not_the_key_on_record', key.kid, `In KMS, ${text}.`)
  if (inKms.usage !== 'SIGN_VERIFY') yield problem(`its usage is ${inKms.usage ?? 'unknown'}`)
  if (!inKms.spec?.startsWith('RSA_')) yield problem(`its spec is ${inKms.spec ?? 'unknown'}`)
  if (inKms.origin !== 'AWS_KMS') yield problem('its private half was created outside KMS')
  if (inKms.tags[signingKeyTagName] !== tag)
    yield problem(`its tag ${signingKeyTagName} is not this deployment’s`)
  if (inKms.thumbprint !== undefined && inKms.thumbprint !== key.kid)
    yield problem('its public key is not the one on record')
}

/** Reports a KMS key in any state that is not on record, unless a recorded attempt may have created it. */
function* checkUnrecorded({ arn, state, createdAt = 0 }: KmsKey, { keySet }: Facts): Generator<Finding> {
  const attempt = keySet?.attempt
  if (attempt?.arn === arn || (attempt?.arn === null && createdAt >= attempt.started_at)) return
  yield found(
    'unknown_key',
    arn,
    `KMS has a key (${state}) with this deployment’s tag that is not on record. Either a run of the rotation died when it had created the key, then no JWKS has had it: schedule its deletion. Or the key’s records were deleted. CloudTrail names the caller (CreateKey).`,
  )
}

function* checkDeletion(inKms: KmsKey, recorded: SigningKey[], { settings }: Facts): Generator<Finding> {
  const key = recorded.find(({ arn }) => arn === inKms.arn)
  if (inKms.state !== 'PendingDeletion' || key === undefined) return
  if (key.state === 'retired' && settings.signingKeyDeletionDays > 0) return
  const { deletionAt } = inKms
  const when = deletionAt === undefined ? 'soon' : `on ${new Date(deletionAt).toISOString().slice(0, 10)}`
  yield found(
    'deletion_scheduled',
    key.kid,
    `KMS will delete the key ${when}, and the deployment did not ask for that.`,
  )
}

/** Compares the policy of a key that can sign with the policy that the rotation gives to every key. */
function* checkPolicy({ arn, state, policy }: KmsKey, { owners }: Facts): Generator<Finding> {
  if (state !== 'Enabled') return
  const changed = (how: string) => found('policy_changed', arn, `The policy of the key ${how}.`)
  if (policy === undefined) {
    yield changed('is hidden from the auditor')
    return
  }
  const [, partition = '', , region = '', account = ''] = arn.split(':')
  const wanted = signingKeyPolicy({ partition, account, region }, owners).Statement.map(describe)
  const { Statement } = JSON.parse(policy) as { Statement: Statement | Statement[] }
  const actual = [Statement].flat().map(describe)
  for (const text of actual.filter((one) => !wanted.includes(one))) yield changed(`was changed: it ${text}`)
  for (const text of wanted.filter((one) => !actual.includes(one))) yield changed(`no longer ${text}`)
}

type Statement = Record<string, unknown>

/** Tells what a statement of a key policy does. Equal statements have equal texts. */
function describe({ Effect, Principal, Action, ...rest }: Statement): string {
  const [who, what, how] = [Principal, Action, rest].map((part) => canonicalJson(sorted(part ?? 'others')))
  return `${Effect === 'Allow' ? 'allows' : 'denies'} ${what} to ${who}, ${how}`.replaceAll(/["{}[\]]/g, '')
}

/** Sorts every list, and replaces a list of one value by the value: IAM treats both alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? sorted(value[0]) : value.toSorted()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]))
}

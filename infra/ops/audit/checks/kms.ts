import { ArnPrincipal } from 'aws-cdk-lib/aws-iam'
import { signingKeyTagName } from '../../../../shared/aws/signing-key-names.ts'
import type { SigningKey } from '../../../../shared/keys/set.ts'
import { canonicalJson } from '../../../../shared/canonical-json.ts'
import { otherRegion } from '../../../../shared/keys/kms.ts'
import { dataKeyPolicy } from '../../../constructs/data-keys.ts'
import { signingKeyPolicy } from '../../../signing-key-policy.ts'
import { type Check, type Finding, found } from '../controls.ts'
import type { Facts, KmsKey } from '../facts.ts'

/**
 * Checks that KMS agrees with the records: keys in use are enabled, archived keys are disabled, and every key
 * is on record.
 */
export const checkKms: Check = function* (facts) {
  const recorded = [...(facts.keySet?.keys ?? []), ...facts.archive]
  for (const key of recorded) {
    const inKms = facts.kms.find(({ arn }) => arn === key.arn)
    if (inKms === undefined) continue
    yield* checkState(key, inKms, facts)
    yield* checkProperties(key, inKms, facts)
    yield* checkDeletion(key, inKms, facts)
  }
  for (const inKms of facts.kms) {
    const { arn, state } = inKms
    if (!recorded.some((key) => key.arn === arn)) yield* checkUnrecorded(inKms, facts)
    if (state !== 'Enabled') continue
    const { Statement: wanted } = signingKeyPolicy(placeOf(arn), facts.owners)
    yield* policyProblems(inKms, wanted).map((problem) =>
      found('policy_changed', arn, `Of the key, ${problem}.`),
    )
  }
}

/**
 * Checks that the evidence key can be used and read, was created by KMS, has the template's policy, and is
 * the only key with its tag. Otherwise, a valid signature would prove nothing.
 */
export const checkEvidenceKey: Check = function* ({ evidenceKey, evidenceKeyArns, owners }) {
  const { arn, state, publicKey } = evidenceKey
  const unusable = `The evidence key is ${state} in KMS: the rotation cannot sign evidence, and the audit verifies no signature.`
  if (state !== 'Enabled' || publicKey === undefined) yield found('evidence_unverified', arn, unusable)
  else {
    const { partition, account } = placeOf(arn)
    const owner = new ArnPrincipal(`arn:${partition}:iam::${account}:root`)
    const { Statement: wanted } = dataKeyPolicy('EvidenceKey', owners, owner).toJSON() as KeyPolicy
    for (const problem of [...propertyProblems(evidenceKey), ...policyProblems(evidenceKey, wanted)])
      yield found('evidence_key_changed', arn, `Of the evidence key, ${problem}.`)
  }
  const twin = `The key has the tag of the evidence key, but the rotation signs evidence with ${arn}.`
  for (const other of evidenceKeyArns) if (other !== arn) yield found('evidence_key_changed', other, twin)
}

function* checkState(key: SigningKey, { state }: KmsKey, { archive }: Facts): Generator<Finding> {
  const problem = (finding: Finding['finding'], message: string) => found(finding, key.kid, message)
  const denied = 'KMS denies the auditor access to the key: its tag or its policy was changed.'
  const elsewhere = `The key is ${key.state} on record, and its private half is in another region (${key.arn}), which this audit does not see.`
  const disabled = `The key is ${key.state} on record but ${state} in KMS, and no evidence explains that. CloudTrail names the caller (DisableKey, ScheduleKeyDeletion).`
  if (state === 'Denied') yield problem('key_hidden', denied)
  else if (state === otherRegion && key.state !== 'retired') yield problem('key_in_other_region', elsewhere)
  else if (key.state !== 'retired' && state !== 'Enabled')
    yield problem('disabled_behind_the_service', disabled)
  // The rotation first disables a retired key in KMS, and then archives it. So a retired key may still be
  // enabled, but an archived key may not.
  else if (key.state === 'retired' && state === 'Enabled' && archive.includes(key))
    yield problem('retired_but_enabled', 'The key is retired, but KMS would still sign with it.')
}

function* checkProperties(key: SigningKey, inKms: KmsKey, { tag }: Facts): Generator<Finding> {
  if (['Missing', 'Denied', otherRegion].includes(inKms.state)) return
  const problem = (text: string) => found('not_the_key_on_record', key.kid, `In KMS, ${text}.`)
  yield* propertyProblems(inKms).map(problem)
  if (inKms.tags[signingKeyTagName] !== tag)
    yield problem(`its tag ${signingKeyTagName} is not this deployment’s`)
  if (inKms.thumbprint !== undefined && inKms.thumbprint !== key.kid)
    yield problem('its public key is not the one on record')
}

/** Checks that a key is an RSA key for signing, and that KMS created it. Returns what is wrong, in words. */
const propertyProblems = ({ usage, spec, origin }: KmsKey): string[] => [
  ...(usage === 'SIGN_VERIFY' ? [] : [`its usage is ${usage ?? 'unknown'}`]),
  ...(spec?.startsWith('RSA_') ? [] : [`its spec is ${spec ?? 'unknown'}`]),
  ...(origin === 'AWS_KMS' ? [] : ['its private half was created outside KMS']),
]

/** Reports a KMS key without a record, except a new key that the rotation may still record. */
function* checkUnrecorded({ arn, state, createdAt = 0 }: KmsKey, { keySet }: Facts): Generator<Finding> {
  const attempt = keySet?.attempt
  if (attempt?.arn === arn || (attempt?.arn === null && createdAt >= attempt.started_at)) return
  const message = `KMS has a key (${state}) with this deployment’s tag that is not on record. Either a run of the rotation died when it had created the key, then no JWKS has had it: schedule its deletion. Or the key’s records were deleted. CloudTrail names the caller (CreateKey).`
  yield found('unknown_key', arn, message)
}

function* checkDeletion({ kid, state }: SigningKey, inKms: KmsKey, { settings }: Facts): Generator<Finding> {
  if (inKms.state !== 'PendingDeletion') return
  if (state === 'retired' && settings.signingKeyDeletionDays > 0) return
  const { deletionAt } = inKms
  const when = deletionAt === undefined ? 'soon' : `on ${new Date(deletionAt).toISOString().slice(0, 10)}`
  const message = `KMS will delete the key ${when}, and the deployment did not ask for that.`
  yield found('deletion_scheduled', kid, message)
}

function placeOf(arn: string) {
  const [, partition = '', , region = '', account = ''] = arn.split(':')
  return { partition, region, account }
}

type Statement = Record<string, unknown>
interface KeyPolicy {
  Statement: Statement | Statement[]
}

/** Describes how the policy of a KMS key differs from the wanted policy; empty if they are equal. */
function policyProblems({ policy }: KmsKey, wanted: KeyPolicy['Statement']): string[] {
  if (policy === undefined) return ['the policy is hidden from the auditor']
  const { Statement } = JSON.parse(policy) as KeyPolicy
  const [actual, expected] = [[Statement].flat().map(describe), [wanted].flat().map(describe)]
  const differences = [
    ...actual.filter((text) => !expected.includes(text)).map((text) => `it ${text}`),
    ...expected.filter((text) => !actual.includes(text)).map((text) => `it lacks the statement that ${text}`),
  ]
  return differences.length === 0 ? [] : [`the policy is not that of the template: ${differences.join('; ')}`]
}

/** Describes a statement of a key policy. Equal statements have equal descriptions. */
function describe({ Effect, Principal, Action, ...rest }: Statement): string {
  const [who, what, how] = [Principal, Action, rest].map((part) => canonicalJson(sorted(part ?? 'others')))
  return `${Effect === 'Allow' ? 'allows' : 'denies'} ${what} to ${who}, ${how}`.replaceAll(/["{}[\]]/g, '')
}

/** Makes equivalent policies look equal: sorts lists, and replaces a list of one value by the value. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? sorted(value[0]) : value.toSorted()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]))
}

import { attemptTagName, signingKeyTagName } from '../../../../shared/keys/key-names.ts'
import type { SigningKey } from '../../../../shared/keys/key-set.ts'
import type { Check, Control, Finding } from '../controls.ts'
import type { Facts, KmsKey } from '../facts.ts'

/** KMS itself agrees with the records: what must work is enabled, what is retired cannot sign, and there is no other key. */
export const checkKms: Check = (facts) => {
  const { ring, archive, kms } = facts
  const recorded = [...(ring?.keys ?? []), ...archive]
  return [
    ...recorded.flatMap((key) => {
      const answer = kms.find(({ arn }) => arn === key.arn)
      return answer === undefined ? [] : [...usable(key, answer, archive), ...genuine(key, answer, facts)]
    }),
    ...kms
      .filter(({ arn }) => !recorded.some((key) => key.arn === arn))
      .flatMap((key) => unrecorded(key, facts)),
    ...pendingDeletion(facts, recorded),
  ]
}

const finding = (name: string, controls: Control[], subject: string, message: string): Finding => ({
  finding: name,
  controls,
  subject,
  message,
})

function usable(key: SigningKey, { state }: KmsKey, archive: SigningKey[]): Finding[] {
  if (state === 'Denied') {
    return [
      finding(
        'key_hidden',
        ['evidence-integrity'],
        key.kid,
        'KMS does not let the auditor see the key: its tag or its policy was changed.',
      ),
    ]
  }
  if (key.state !== 'retired') {
    return state === 'Enabled'
      ? []
      : [
          finding(
            'disabled_behind_the_service',
            ['cis-key-monitoring', 'pci-3.7.4'],
            key.kid,
            `The key is ${key.state}, but ${state} in KMS, and no evidence says why. CloudTrail tells who did it (DisableKey, ScheduleKeyDeletion).`,
          ),
        ]
  }
  // A key that was retired this minute is disabled by the next step.
  return state === 'Enabled' && archive.includes(key)
    ? [
        finding(
          'retired_but_enabled',
          ['pci-3.7.5'],
          key.kid,
          'The key is retired, but KMS would still sign with it.',
        ),
      ]
    : []
}

function genuine(key: SigningKey, answer: KmsKey, { tag }: Facts): Finding[] {
  if (answer.state === 'Missing' || answer.state === 'Denied') return []
  const wrong = [
    answer.usage === 'SIGN_VERIFY' ? undefined : `its usage is ${answer.usage ?? 'unknown'}`,
    answer.spec?.startsWith('RSA_') ? undefined : `its spec is ${answer.spec ?? 'unknown'}`,
    answer.origin === 'AWS_KMS' ? undefined : 'its private half was made outside of KMS',
    answer.tags[signingKeyTagName] === tag
      ? undefined
      : `its tag ${signingKeyTagName} is not that of this deployment`,
    answer.thumbprint === undefined || answer.thumbprint === key.kid
      ? undefined
      : 'its public key is another than the one on record',
  ].filter((problem) => problem !== undefined)
  return wrong.map((problem) =>
    finding('not_the_key_on_record', ['nist-cryptoperiod'], key.kid, `In KMS, ${problem}.`),
  )
}

/** A key that was made and given up is disabled and deleted by the service; one that is being made has its attempt in the ring. */
function unrecorded(key: KmsKey, { ring }: Facts): Finding[] {
  const attempt = key.tags[attemptTagName]
  const expected = [
    ...(ring?.attempt ? [ring.attempt.id] : []),
    ...(ring?.orphaned_attempts ?? []).map(({ id }) => id),
  ]
  if (key.state !== 'Enabled' || (attempt !== undefined && expected.includes(attempt))) return []
  return [
    finding(
      'unknown_key',
      ['published-keys', 'pci-3.7.5'],
      key.arn,
      'KMS has an enabled key with this deployment’s tag that no record knows.',
    ),
  ]
}

function pendingDeletion({ kms, settings }: Facts, recorded: SigningKey[]): Finding[] {
  return kms.flatMap(({ arn, state, deletionAt }) => {
    const key = recorded.find((candidate) => candidate.arn === arn)
    const intended = key === undefined || (key.state === 'retired' && settings.signingKeyDeletionDays > 0)
    if (state !== 'PendingDeletion' || intended) return []
    const when = deletionAt === undefined ? 'soon' : `on ${new Date(deletionAt).toISOString().slice(0, 10)}`
    return [
      finding(
        'deletion_scheduled',
        ['securityhub-kms.3', 'cis-key-monitoring'],
        key.kid,
        `KMS deletes the key ${when}, which this deployment never asks for.`,
      ),
    ]
  })
}

import { Stack } from 'aws-cdk-lib'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { EventBus } from 'aws-cdk-lib/aws-events'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Environment } from '../../shared/env.ts'
import { ownSource } from '../../shared/env.ts'
import { signingAlgorithm, signingKeyTagName } from '../../shared/aws/signing-key-names.ts'
import { indexName } from '../../shared/db/partitions.ts'
import { identitiesOf } from '../mail-identities.ts'
import { type Permissions, tableStatements } from '../permissions.ts'

/** A table that this stack created, or a restored one. CDK's common type for both does not compile here. */
export type DataTable = Pick<ITableV2, 'tableArn' | 'tableName'>

/** The resources to which functions can be granted access. */
export interface ServiceResources {
  table: DataTable
  bus: EventBus
  macKeys: IKey[]
  totpKey: IKey
  evidenceKey: IKey
  /** KMS key spec of new signing keys. */
  signingKeySpec: string
  /** Value of the tag `signing-key`, which every signing key of this deployment carries. */
  signingKeyTag: string
  mailFrom: string
  /** SQS queues of the workers, keyed by worker name. */
  queues: Map<string, Queue>
  /** Environment variables that every function gets. */
  environment: Environment
}

/** Grants a function exactly the access that `permissions` describes. */
export function grant(fn: LambdaFunction, permissions: Permissions, resources: ServiceResources): void {
  const stack = Stack.of(fn)
  for (const statement of statementsFor(stack, permissions, resources)) fn.addToRolePolicy(statement)
  for (const statement of signingKeyStatements(stack, permissions, resources)) fn.addToRolePolicy(statement)
}

function* statementsFor(
  stack: Stack,
  permissions: Permissions,
  resources: ServiceResources,
): Generator<PolicyStatement> {
  const { index, macKey, totpKey, publish, mail, queues = [] } = permissions
  const { tableArn } = resources.table
  for (const { actions, keys } of tableStatements(permissions))
    yield allow(prefixed('dynamodb', actions), [tableArn], onlyKeys(keys))
  if (index) yield allow(['dynamodb:Query'], [`${tableArn}/index/${indexName}`], onlyKeys(index))
  if (macKey) {
    const keys = resources.macKeys.map(({ keyArn }) => keyArn)
    yield allow(prefixed('kms', macKey), keys, { StringEquals: { 'kms:MacAlgorithm': 'HMAC_SHA_256' } })
  }
  if (totpKey)
    yield allow(prefixed('kms', totpKey), [resources.totpKey.keyArn], {
      'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['user_id'] },
      Null: { 'kms:EncryptionContextKeys': 'false' },
    })
  if (publish)
    yield allow(['events:PutEvents'], [resources.bus.eventBusArn], {
      // `events:source` is multivalued, so it needs a set operator. ForAllValues also matches a request
      // without this key; Null excludes such a request (EventBridge: Using IAM policy conditions).
      'ForAllValues:StringEquals': { 'events:source': ownSource },
      Null: { 'events:source': 'false' },
      StringEquals: { 'events:detail-type': publish },
    })
  if (mail) {
    // SES permits any sender address of a verified domain. The condition allows only the service's own
    // address.
    yield allow(
      ['ses:SendEmail'],
      identitiesOf(resources.mailFrom).map((resourceName) =>
        stack.formatArn({ service: 'ses', resource: 'identity', resourceName }),
      ),
      { StringEquals: { 'ses:FromAddress': resources.mailFrom } },
    )
  }
  for (const name of queues) {
    const queue = resources.queues.get(name)
    if (queue === undefined) throw new Error(`there is no queue called ${name}`)
    yield allow(['sqs:SendMessage'], [queue.queueArn])
  }
}

/**
 * Creates a condition that allows only requests for these partition keys (of the table or of the index).
 * `ForAllValues` alone would also allow a request without a partition key, such as a scan; `Null` refuses it.
 */
const onlyKeys = (keys: readonly string[]) => ({
  'ForAllValues:StringLike': {
    'dynamodb:LeadingKeys': keys.map((key) => (key.endsWith('#') ? `${key}*` : key)),
  },
  Null: { 'dynamodb:LeadingKeys': 'false' },
})

/**
 * IAM statements for the signing keys. The rotation creates these keys at run time, so policies identify them
 * by their tag, not by ARN.
 */
function* signingKeyStatements(
  stack: Stack,
  { signingKeys }: Permissions,
  { evidenceKey, signingKeySpec, signingKeyTag }: ServiceResources,
): Generator<PolicyStatement> {
  const keys = stack.formatArn({ service: 'kms', resource: 'key', resourceName: '*' })
  const ours = { [`aws:ResourceTag/${signingKeyTagName}`]: signingKeyTag }
  const signs = { 'kms:SigningAlgorithm': signingAlgorithm, 'kms:MessageType': 'DIGEST' }
  const isSigningKey = { 'kms:KeyUsage': 'SIGN_VERIFY' }
  if (signingKeys === 'sign') yield allow(['kms:Sign'], [keys], { StringEquals: { ...ours, ...signs } })
  if (signingKeys !== 'manage') return
  const setsTags = {
    StringEquals: { [`aws:RequestTag/${signingKeyTagName}`]: signingKeyTag },
    'ForAllValues:StringEquals': { 'aws:TagKeys': [signingKeyTagName] },
  }
  // kms:CreateKey needs the resource `*`, because a new key has no ARN yet.
  yield allow(['kms:CreateKey'], ['*'], {
    ...setsTags,
    StringEquals: { ...setsTags.StringEquals, ...isSigningKey, 'kms:KeySpec': signingKeySpec },
  })
  // CreateKey needs kms:TagResource to tag a new key. The conditions exclude a key with an alias or with a
  // wrong usage, spec or deployment. IfExists allows a new key: IAM does not know its properties yet.
  yield allow(['kms:TagResource'], [keys], {
    ...setsTags,
    Null: { 'kms:ResourceAliases': 'true' },
    StringEqualsIfExists: { ...ours, ...isSigningKey, 'kms:KeySpec': signingKeySpec },
  })
  yield allow(['kms:Sign', 'kms:Verify'], [keys], { StringEquals: { ...ours, ...signs } })
  yield allow(['kms:Sign'], [evidenceKey.keyArn], { StringEquals: signs })
  yield allow(['kms:DescribeKey', 'kms:GetPublicKey', 'kms:DisableKey', 'kms:ScheduleKeyDeletion'], [keys], {
    StringEquals: { ...ours, ...isSigningKey },
  })
}

const prefixed = (service: string, actions: string[]): string[] =>
  actions.map((action) => `${service}:${action}`)

const allow = (
  actions: string[],
  resources: string[],
  conditions?: Record<string, Record<string, string | string[]>>,
) => new PolicyStatement({ actions, resources, ...(conditions ? { conditions } : {}) })

import { Stack } from 'aws-cdk-lib'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { EventBus } from 'aws-cdk-lib/aws-events'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Environment } from '../../shared/env.ts'
import { signingKeyTagName } from '../../shared/keys/key-names.ts'
import { indexName } from '../../shared/db/table-layout.ts'
import type { Permissions } from '../permissions.ts'

/** What functions are granted access to, and the environment by which they find it. */
export interface ServiceResources {
  table: TableV2
  bus: EventBus
  macKey: Key
  totpKey: Key
  /** Value of the tag `signing-key` by which a deployment's signing keys are known. */
  signingKeyTag: string
  /** Sender address of mails. */
  mailFrom: string
  queues: Map<string, Queue>
  environment: Environment
}

/** Grants a function exactly what its permissions say. */
export function grant(fn: LambdaFunction, permissions: Permissions, backing: ServiceResources): void {
  for (const statement of statements(Stack.of(fn), permissions, backing)) fn.addToRolePolicy(statement)
}

function* statements(
  stack: Stack,
  permissions: Permissions,
  backing: ServiceResources,
): Generator<PolicyStatement> {
  const { table, index, macKey, totpKey, signingKeys, publish, mail, queues = [] } = permissions
  if (table !== undefined) {
    yield allow(
      table.map((action) => `dynamodb:${action}`),
      [backing.table.tableArn],
    )
  }
  if (index) yield allow(['dynamodb:Query'], [`${backing.table.tableArn}/index/${indexName}`])
  if (macKey)
    yield allow(
      macKey.map((action) => `kms:${action}`),
      [backing.macKey.keyArn],
    )
  if (totpKey)
    yield allow(
      totpKey.map((action) => `kms:${action}`),
      [backing.totpKey.keyArn],
    )
  if (publish) yield allow(['events:PutEvents'], [backing.bus.eventBusArn])
  if (mail) {
    // SES asks for the identity that it sends by: the address where that is verified, otherwise its domain.
    const identities = [backing.mailFrom, backing.mailFrom.split('@')[1] ?? '']
    yield allow(
      ['ses:SendEmail'],
      identities.map((resourceName) =>
        stack.formatArn({ service: 'ses', resource: 'identity', resourceName }),
      ),
    )
  }
  for (const name of queues) {
    const queue = backing.queues.get(name)
    if (queue === undefined) throw new Error(`there is no queue called ${name}`)
    yield allow(['sqs:SendMessage'], [queue.queueArn])
  }
  // Signing keys come and go at run time, so they are known by their tag, not by their ARN.
  const keys = stack.formatArn({ service: 'kms', resource: 'key', resourceName: '*' })
  const ours = { StringEquals: { [`aws:ResourceTag/${signingKeyTagName}`]: backing.signingKeyTag } }
  if (signingKeys === 'sign') yield allow(['kms:Sign'], [keys], ours)
  if (signingKeys === 'manage') {
    // A key that does not exist yet has no ARN: AWS demands `*` here. Only keys that carry our tag can be made.
    yield allow(['kms:CreateKey'], ['*'], {
      StringEquals: { [`aws:RequestTag/${signingKeyTagName}`]: backing.signingKeyTag },
    })
    yield allow(['kms:TagResource'], [keys], {
      StringEquals: { [`aws:RequestTag/${signingKeyTagName}`]: backing.signingKeyTag },
    })
    yield allow(
      [
        'kms:DescribeKey',
        'kms:GetPublicKey',
        'kms:Sign',
        'kms:Verify',
        'kms:DisableKey',
        'kms:ScheduleKeyDeletion',
        'kms:ListResourceTags',
      ],
      [keys],
      ours,
    )
    // Listing has no resource-level permissions in KMS.
    yield allow(['kms:ListKeys'], ['*'])
  }
}

const allow = (actions: string[], resources: string[], conditions?: Record<string, Record<string, string>>) =>
  new PolicyStatement({ actions, resources, ...(conditions ? { conditions } : {}) })

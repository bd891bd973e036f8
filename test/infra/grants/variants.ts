import type { FunctionModel, PolicyStatement } from '../../../infra/local/model.ts'

/** The IAM action that a function uses only to set the time of the retry of a failed message. */
const delayRetry = 'sqs:ChangeMessageVisibility'

/** Environment variables with which a function fails at every message, so that it times a retry. */
const brokenEnvironment = { TABLE_NAME: '', MAIL_FROM: '' }

/**
 * A timeout in seconds that leaves the worker of the trees no time for its work. It then sends a message to
 * its own queue, which it does for no other reason.
 */
const noTime = { timeoutSeconds: 5 }

/**
 * A timeout in seconds of the rotation, which waits for KMS until 15 s before its timeout: see its scenario.
 */
const shortWait = { timeoutSeconds: 16 }

/**
 * The one IAM action whose denial the rotation expects: it reads the tags of all keys, and may not read those
 * of other deployments. So a missing grant does not make it fail.
 */
const denialIsExpected = 'kms:ListResourceTags'

/** A copy of a function without one of its IAM grants. */
export interface Variant {
  /** Logical id of the original function. */
  of: string
  /** The missing IAM action and its resources. */
  without: string
  action: string
  model: FunctionModel
}

/** Condition key of the partitions that a request names. */
const leadingKeys = 'dynamodb:LeadingKeys'

/** The partitions to which a statement allows access; undefined if it is not about items. */
export const partitionsOf = ({ Condition }: PolicyStatement): string[] | undefined => {
  const found = Condition?.['ForAllValues:StringLike']?.[leadingKeys]
  return found === undefined ? undefined : [found].flat()
}

/**
 * Makes one variant of a function for each IAM action that its own code calls, except `denialIsExpected`. An
 * action on items has one for each partition: it then lacks the action on that partition only.
 */
export const makeVariants = (original: FunctionModel): Variant[] =>
  original.policies.flatMap(({ Statement }, policyAt) =>
    Statement.flatMap((statement, statementAt) =>
      ownGrants(original, statement).map(([action, partition], i): Variant => {
        const name = `${original.name}-without-${action.replace(':', '-')}-${policyAt}-${statementAt}-${i}`
        return {
          of: original.logicalId,
          without: `${action} ${partition === undefined ? '' : `of ${partition} `}on ${[statement.Resource]
            .flat()
            .join(', ')
            .replaceAll(/arn:aws:[a-z]+:[^:]*:\d*:/g, '')}`,
          action,
          model: {
            ...original,
            logicalId: `${original.logicalId}-${name}`,
            name,
            arn: original.arn.replace(original.name, name),
            ...(original.name.startsWith('worker-') && sendsOnly(action, partition) && noTime),
            ...(original.name === 'rotate-signing-keys' && shortWait),
            environment:
              action === delayRetry
                ? { ...original.environment, ...brokenEnvironment }
                : original.environment,
            policies: original.policies.map((policy, at) =>
              at === policyAt
                ? { ...policy, Statement: deny(policy.Statement, statementAt, action, partition) }
                : policy,
            ),
          },
        }
      }),
    ),
  )

/** Whether a worker has this grant only to send a message. */
const sendsOnly = (action: string, partition: string | undefined): boolean =>
  action === 'sqs:SendMessage' || (action === 'dynamodb:UpdateItem' && partition === 'WAKE#*')

/** Lists what the variants lack: each action, or each action with each partition. */
const ownGrants = (original: FunctionModel, statement: PolicyStatement): [string, string | undefined][] =>
  ownActions(original, statement).flatMap((action) =>
    (partitionsOf(statement) ?? [undefined]).map((partition): [string, string | undefined] => [
      action,
      partition,
    ]),
  )

const actionsOf = ({ Action }: PolicyStatement): string[] => [Action ?? []].flat()

/**
 * Lists the IAM actions that a function's own code calls. Lambda itself uses the role to write logs and to
 * poll the queue; of the queue actions, a function calls only the one that sets the time of a retry.
 */
function ownActions(original: FunctionModel, statement: PolicyStatement): string[] {
  const actions = actionsOf(statement).filter(
    (action) => !action.startsWith('logs:') && action !== denialIsExpected,
  )
  if (!actions.includes('sqs:ReceiveMessage')) return actions
  return 'QUEUE_URL' in original.environment ? actions.filter((action) => action === delayRetry) : []
}

const deny = (
  statements: PolicyStatement[],
  at: number,
  action: string,
  partition?: string,
): PolicyStatement[] =>
  statements.flatMap((statement, i) => {
    if (i !== at) return [statement]
    const others = actionsOf(statement).filter((other) => other !== action)
    const left = partitionsOf(statement)?.filter((other) => other !== partition) ?? []
    return [
      ...(others.length === 0 ? [] : [{ ...statement, Action: others }]),
      ...(left.length === 0 ? [] : [onlyPartitions({ ...statement, Action: action }, left)]),
    ]
  })

const onlyPartitions = (statement: PolicyStatement, partitions: string[]): PolicyStatement => ({
  ...statement,
  Condition: { ...statement.Condition, 'ForAllValues:StringLike': { [leadingKeys]: partitions } },
})

import type { FunctionModel, PolicyStatement } from '../../../infra/local/model.ts'

/** An action that a function uses only to delay a retry after another failure. */
export const delayRetry = 'sqs:ChangeMessageVisibility'

/** Environment with which an intake function fails at every event, so that it delays a retry. */
export const brokenEnvironment = { TABLE_NAME: '', MAIL_FROM: '' }

/**
 * The rotation reads tags to find this deployment's keys. It expects to be denied the tags of other keys, so
 * a missing grant does not make it fail.
 */
const denialIsExpected = 'kms:ListResourceTags'

/** A function without one of its grants. */
export interface Variant {
  /** Logical id of the function that it is a variant of. */
  of: string
  /** The missing action and its resources. */
  without: string
  action: string
  model: FunctionModel
}

/** One variant of a function for each action that its own code calls, except `denialIsExpected`. */
export const makeVariants = (original: FunctionModel): Variant[] =>
  original.policies.flatMap(({ Statement }, policyAt) =>
    Statement.flatMap((statement, statementAt) =>
      ownActions(original, statement).map((action): Variant => {
        const name = `${original.name}-without-${action.replace(':', '-')}-${policyAt}-${statementAt}`
        return {
          of: original.logicalId,
          without: `${action} on ${[statement.Resource]
            .flat()
            .join(', ')
            .replaceAll(/arn:aws:[a-z]+:[^:]*:\d*:/g, '')}`,
          action,
          model: {
            ...original,
            logicalId: `${original.logicalId}-${name}`,
            name,
            arn: original.arn.replace(original.name, name),
            environment:
              action === delayRetry
                ? { ...original.environment, ...brokenEnvironment }
                : original.environment,
            policies: original.policies.map((policy, i) =>
              i === policyAt ? { ...policy, Statement: deny(policy.Statement, statementAt, action) } : policy,
            ),
          },
        }
      }),
    ),
  )

const actionsOf = ({ Action }: PolicyStatement): string[] => [Action ?? []].flat()

/**
 * The actions that a function's own code calls. Lambda itself uses the role to write logs and to poll the
 * queue; of the queue actions, an intake function calls only the one that delays a retry.
 */
function ownActions(original: FunctionModel, statement: PolicyStatement): string[] {
  const actions = actionsOf(statement).filter(
    (action) => !action.startsWith('logs:') && action !== denialIsExpected,
  )
  if (!actions.includes('sqs:ReceiveMessage')) return actions
  return 'QUEUE_URL' in original.environment ? actions.filter((action) => action === delayRetry) : []
}

const deny = (statements: PolicyStatement[], at: number, action: string): PolicyStatement[] =>
  statements.flatMap((statement, i) => {
    if (i !== at) return [statement]
    const left = actionsOf(statement).filter((other) => other !== action)
    return left.length === 0 ? [] : [{ ...statement, Action: left }]
  })

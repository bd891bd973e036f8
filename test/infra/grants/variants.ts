import type { FunctionModel, PolicyStatement } from '../../../infra/local/model.ts'

/** An action that a function has use for only where something else goes wrong. */
export const putOff = 'sqs:ChangeMessageVisibility'

/** What an intake function lacks that fails whatever event it is given: a fault that is nobody's refusal. */
export const broken = { TABLE_NAME: '', MAIL_FROM: '' }

/**
 * Tags are read to tell this deployment's keys from all others, whose tags the function may not read: being denied is an answer there,
 * and a denial for its own keys looks the same.
 */
const denialIsAnswer = 'kms:ListResourceTags'

/** A function that may do all that it is granted but one action. */
export interface Variant {
  /** Logical id of the function that it is a variant of. */
  of: string
  /** The action, and on what. */
  without: string
  action: string
  model: FunctionModel
}

/** One variant of a function for each action of each statement that its own code calls, `denialIsAnswer` aside. */
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
            environment: action === putOff ? { ...original.environment, ...broken } : original.environment,
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
 * What a function's code calls: not what Lambda calls with the function's role, which is the writing of its log and the polling of
 * its queue. Of the latter an intake function calls one action itself, to put a retry off.
 */
function ownActions(original: FunctionModel, statement: PolicyStatement): string[] {
  const actions = actionsOf(statement).filter(
    (action) => !action.startsWith('logs:') && action !== denialIsAnswer,
  )
  if (!actions.includes('sqs:ReceiveMessage')) return actions
  return 'QUEUE_URL' in original.environment ? actions.filter((action) => action === putOff) : []
}

const deny = (statements: PolicyStatement[], at: number, action: string): PolicyStatement[] =>
  statements.flatMap((statement, i) => {
    if (i !== at) return [statement]
    const left = actionsOf(statement).filter((other) => other !== action)
    return left.length === 0 ? [] : [{ ...statement, Action: left }]
  })

import type { AccessRequest } from '../../../infra/local/aws/iam/authorize.ts'
import type { FunctionModel, PolicyStatement } from '../../../infra/local/model.ts'

/** One IAM action that a function is granted; an action on items has a pattern for the items' partitions. */
interface Grant {
  action: string
  resources: string[]
  partition: string | undefined
}

/** Actions that Lambda performs with a function's role, or that its code performs only after a failure. */
const notOfScenarios = /^(logs:.*|sqs:(ReceiveMessage|DeleteMessage|GetQueue.*|ChangeMessageVisibility))$/

/** Lists the grants of a function for the calls of its own code. */
const listGrants = ({ policies }: FunctionModel): Grant[] =>
  policies
    .flatMap(({ Statement }) => Statement)
    .flatMap((statement) =>
      toList(statement.Action)
        .filter((action) => !notOfScenarios.test(action))
        .flatMap((action) =>
          partitionsOf(statement).map((partition) => ({
            action,
            resources: toList(statement.Resource),
            partition,
          })),
        ),
    )

const toList = (value: string | string[] = []): string[] => [value].flat()

/** The partitions to which a statement allows access; `[undefined]` if the statement is not about items. */
function partitionsOf({ Condition }: PolicyStatement): (string | undefined)[] {
  const found = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']
  return found === undefined ? [undefined] : toList(found)
}

/** Lists the grants of a function that none of these accesses used. */
export const listUnused = (item: FunctionModel, accesses: readonly AccessRequest[]): string[] =>
  listGrants(item)
    .filter((grant) => !accesses.some((access) => isUse(grant, access)))
    .map(({ action, resources, partition }) => `${action} of ${partition ?? resources.join(', ')}`)

function isUse({ action, resources, partition }: Grant, { context, ...access }: AccessRequest): boolean {
  const keys = toList(context?.['dynamodb:LeadingKeys'] as string | string[] | undefined)
  return (
    access.action === action &&
    toList(access.resource).some((one) => resources.some((pattern) => matches(pattern, one))) &&
    (partition === undefined || keys.some((key) => matches(partition, key)))
  )
}

/** Whether a pattern of a policy matches a text, by code of this test instead of the local IAM's code. */
function matches(pattern: string, text: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return text === pattern
  const middle = text.slice(start.length, text.length - end.length)
  return text.startsWith(start) && text.endsWith(end) && parts.every((part) => middle.includes(part))
}

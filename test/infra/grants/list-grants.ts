import type { AccessRequest } from '../../../infra/local/aws/iam/authorize.ts'
import type { FunctionModel, PolicyStatement } from '../../../infra/local/model.ts'

/** A grant covers requests with one of `actions` on one of `resources`, and only in `partition`, if set. */
interface Grant {
  actions: string[]
  resources: readonly string[]
  partition?: string
}

/** Actions that scenarios need not use, because only Lambda itself or a failed function uses them. */
const notOfScenarios = /^(logs:.*|sqs:(ReceiveMessage|DeleteMessage|GetQueue.*|ChangeMessageVisibility))$/

/**
 * Lists a function's grants. A statement about partitions gives one grant for each partition, and one grant
 * for DeleteItem if the statement allows it. Any other statement gives one grant for each action.
 */
const listGrants = ({ policies }: FunctionModel): Grant[] =>
  policies
    .flatMap(({ Statement }) => Statement)
    .flatMap((statement): Grant[] => {
      const resources = toList(statement.Resource)
      const actions = toList(statement.Action).filter((action) => !notOfScenarios.test(action))
      const partitions = partitionsOf(statement)
      const alone = partitions.length === 0 ? actions : actions.filter((name) => name.endsWith(':DeleteItem'))
      return [
        ...partitions.map((partition) => ({ actions, resources, partition })),
        ...alone.map((action) => ({ actions: [action], resources })),
      ]
    })

const toList = (value: string | readonly string[] = []): readonly string[] => [value].flat()

/** The table partitions that a policy statement allows; none if it is not about table items. */
const partitionsOf = ({ Condition }: PolicyStatement): readonly string[] =>
  toList(Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'])

const keysOf = ({ context }: AccessRequest): readonly string[] => toList(context?.['dynamodb:LeadingKeys'])

/** Lists a function's unused grants. A grant is unused if none of `accesses` used it. */
export const listUnused = (item: FunctionModel, accesses: readonly AccessRequest[]): string[] =>
  listGrants(item)
    .filter((grant) => !accesses.some((access) => isUse(grant, access)))
    .map(({ actions, resources, partition }) => `${actions.join()} of ${partition ?? resources.join(', ')}`)

const isUse = ({ actions, resources, partition }: Grant, access: AccessRequest): boolean =>
  actions.includes(access.action) &&
  toList(access.resource).some((one) => resources.some((pattern) => matches(pattern, one))) &&
  (partition === undefined || keysOf(access).some((key) => matches(partition, key)))

/**
 * AWS may require that one policy statement allows all partitions of a transaction. Takes the statement that
 * allows most of these partitions, and lists the partitions that it does not allow.
 */
export function listForeign({ policies }: FunctionModel, members: readonly AccessRequest[]): string[] {
  const keys = members.flatMap(keysOf)
  const [fewest = keys] = policies
    .flatMap(({ Statement }) => Statement)
    .filter(({ Action }) => members.every(({ action }) => toList(Action).includes(action)))
    .map((one) => keys.filter((key) => !partitionsOf(one).some((pattern) => matches(pattern, key))))
    .toSorted((a, b) => a.length - b.length)
  return fewest.map((key) => key.replace(/#.*/, '#'))
}

/** Whether a policy's pattern matches a text. Does not use the local IAM, which is under test itself. */
function matches(pattern: string, text: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return text === pattern
  const middle = text.slice(start.length, text.length - end.length)
  return text.startsWith(start) && text.endsWith(end) && parts.every((part) => middle.includes(part))
}

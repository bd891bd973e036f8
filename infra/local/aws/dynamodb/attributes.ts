import * as v from 'valibot'

const Names = v.optional(v.record(v.string(), v.string()), {})
const Text = v.optional(v.string())

/** The members of a request, or of a member of a transaction, that name attributes. */
export const AttributeMembers = v.object({
  ExpressionAttributeNames: Names,
  KeyConditionExpression: Text,
  ProjectionExpression: Text,
  FilterExpression: Text,
  ConditionExpression: Text,
  UpdateExpression: Text,
  Item: v.optional(v.record(v.string(), v.unknown())),
  Key: v.optional(v.record(v.string(), v.unknown())),
})
export type AttributeMembers = v.InferOutput<typeof AttributeMembers>

/** The words of DynamoDB's expression language; anything else in an expression is an attribute. */
const keywords = new Set(
  (
    'SET REMOVE ADD DELETE AND OR NOT BETWEEN IN if_not_exists list_append attribute_exists attribute_not_exists ' +
    'attribute_type begins_with contains size'
  ).split(' '),
)

/** The top-level attributes that a request names: the condition key dynamodb:Attributes. */
export function listAttributes(members: AttributeMembers): string[] {
  const found = new Set([...Object.keys(members.Item ?? {}), ...Object.keys(members.Key ?? {})])
  const expressions = [
    members.KeyConditionExpression,
    members.ProjectionExpression,
    members.FilterExpression,
    members.ConditionExpression,
    members.UpdateExpression,
  ]
  for (const expression of expressions) {
    // Values begin with a colon; what stands after a dot lies inside its attribute.
    for (const [token] of (expression ?? '').matchAll(/(?<![.\w:#-])#?[A-Za-z_][\w-]*/g)) {
      if (token.startsWith('#')) found.add(members.ExpressionAttributeNames[token] ?? token)
      else if (!keywords.has(token) && !keywords.has(token.toUpperCase())) found.add(token)
    }
  }
  return [...found]
}

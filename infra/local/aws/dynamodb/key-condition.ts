/** The attributes that a query's key condition sets equal to a value, as the key map that it amounts to. */
export function readKeyCondition(query: {
  KeyConditionExpression?: string | undefined
  ExpressionAttributeNames: Record<string, string>
  ExpressionAttributeValues: Record<string, unknown>
}): Record<string, unknown> {
  const key: Record<string, unknown> = {}
  for (const [, name = '', value = ''] of (query.KeyConditionExpression ?? '').matchAll(
    /([#\w.-]+)\s*=\s*(:\w+)/g,
  ))
    key[query.ExpressionAttributeNames[name] ?? name] = query.ExpressionAttributeValues[value]
  return key
}

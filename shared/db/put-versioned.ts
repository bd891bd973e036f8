import { tableName } from './table.ts'
import type { Write } from './write.ts'

/**
 * The write of an item that counts its versions in `version`, provided that the table still holds the version that was
 * read; 0 stands for no item.
 */
export const putVersioned = (item: Record<string, unknown>, read: number): Write => ({
  Put: {
    TableName: tableName(),
    Item: item,
    ...(read === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: '#version = :version',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': read },
        }),
  },
})

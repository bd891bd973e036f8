import type { Partition } from './partitions.ts'
import type { Key } from './table.ts'

/** The names in the braces of a key template, as a type: `userId` for `USER#{userId}`. */
type Names<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

type Values<Template extends string> = Record<Names<Template>, string | number>

type PartitionTemplate = `${Partition | '{list}#'}${string}`

/** A kind of item in the table. The list of all kinds in shared/README.md is generated from the code. */
export interface ItemTypeSpec {
  /**
   * Templates of the partition key and the sort key. A name in braces is a placeholder. The placeholder
   * `{list}` in `pk` is the kind of a member list, `DIR` or `TEAM`.
   */
  pk: PartitionTemplate
  sk: string
  /** Templates of the index's partition key and sort key. A type without them is not in the index. */
  gpk?: string
  gsk?: string
  /** What the item holds, and how it is found: text for the list in shared/README.md. */
  holds: string
  found: string
}

/** Every kind of item that has been declared by the modules loaded so far. */
export const itemTypes: ItemTypeSpec[] = []

/** Declares a kind of item. Only the file that owns the kind calls this, so no other file builds its keys. */
export function itemType<const Spec extends ItemTypeSpec>(spec: Spec) {
  itemTypes.push(spec)
  const fill = (template: string, values: Record<string, string | number>): string =>
    template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
  const sortKeyPrefix = spec.sk.split('{')[0] ?? ''
  return {
    key: (values: Values<Spec['pk'] | Spec['sk']>): Key => ({
      pk: fill(spec.pk, values),
      sk: fill(spec.sk, values),
    }),
    /** Builds the partition key alone, for queries. */
    partition: (values: Values<Spec['pk']>): string => fill(spec.pk, values),
    /** The prefix that the sort keys of all items of this kind share, for queries. */
    sortKeyPrefix,
    /** The key condition of a query for all items of this kind in a partition. */
    all: (values: Values<Spec['pk']>) => ({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': fill(spec.pk, values), ':prefix': sortKeyPrefix },
    }),
  }
}

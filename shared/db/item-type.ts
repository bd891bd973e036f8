import type { Key } from './table.ts'

/** The names in braces of a key template: `USER#{userId}` has the name `userId`. */
type Names<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

type Values<Template extends string> = Record<Names<Template>, string | number>

/** A kind of item in the table. The list of all of them in shared/README.md is made from these. */
export interface ItemTypeSpec {
  /** Partition key and sort key, with names in braces for what varies. */
  pk: string
  sk: string
  /** Keys in the index, for items that are in it. */
  gpk?: string
  gsk?: string
  /** What an item holds, and how it is found: for the list. */
  holds: string
  found: string
}

/** Every kind of item whose owner has been loaded. */
export const itemTypes: ItemTypeSpec[] = []

/** Declares a kind of item. Only the file that owns the item does, so that no other spells its keys. */
export function itemType<const Spec extends ItemTypeSpec>(spec: Spec) {
  itemTypes.push(spec)
  const fill = (template: string, values: Record<string, string | number>): string =>
    template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
  return {
    key: (values: Values<Spec['pk'] | Spec['sk']>): Key => ({
      pk: fill(spec.pk, values),
      sk: fill(spec.sk, values),
    }),
    /** The partition alone, for queries. */
    partition: (values: Values<Spec['pk']>): string => fill(spec.pk, values),
    /** What the sort keys of all items of this kind begin with, for queries. */
    sortKeyPrefix: spec.sk.split('{')[0] ?? '',
  }
}

import type { KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Quirks } from '../../quirks.ts'
import type { PolicyDocument, StackModel } from '../../model.ts'
import { compilePolicies, type CompiledPolicy } from '../iam/policy.ts'
import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import { generateMaterial, keySpecs, readMaterial, type KeySpec } from './algorithms.ts'
import { drawLag, type LaggingChange, LaggingValue } from './lag.ts'

/** A KMS key as stored. */
const KeyRecord = v.object({
  keyId: v.string(),
  arn: v.string(),
  spec: v.string(),
  state: v.picklist(['Enabled', 'Disabled', 'PendingDeletion']),
  description: v.string(),
  /** Creation time, seconds since the epoch as in KMS's answers. */
  createdAt: v.number(),
  deletionAt: v.optional(v.number()),
  policy: v.string(),
  tags: v.record(v.string(), v.string()),
  material: v.string(),
})
export type KeyRecord = v.InferOutput<typeof KeyRecord>

/**
 * The properties of a KMS key that change with a delay: callers see a new value only some time after it was
 * set.
 */
interface VisibleKey {
  exists: LaggingValue<boolean>
  tags: LaggingValue<KeyRecord['tags']>
  state: LaggingValue<KeyRecord['state'] | 'Creating'>
}

/** A KMS key with its material and policy ready for use. */
export interface Key {
  record: KeyRecord
  lagging: VisibleKey
  spec: KeySpec
  material: KeyObject
  policy: CompiledPolicy
}

/** The properties of a new KMS key. Without a key policy, IAM policies decide who may use the key. */
export type NewKey = Pick<KeyRecord, 'keyId' | 'spec' | 'description' | 'tags'> & {
  keyPolicy?: PolicyDocument | undefined
}

/** All KMS keys of the account, in memory and in the store. */
export class KeyStore {
  readonly #keys = new Map<string, Key>()
  readonly #store: Store
  readonly #arnPrefix: string
  readonly #defaultPolicy: PolicyDocument
  #drawLag: (change: LaggingChange) => number = () => 0

  private constructor(store: Store, { accountId, region }: StackModel) {
    this.#store = store
    this.#arnPrefix = `arn:aws:kms:${region}:${accountId}:key/`
    const Principal = { AWS: `arn:aws:iam::${accountId}:root` }
    this.#defaultPolicy = { Statement: [{ Effect: 'Allow', Principal, Action: 'kms:*', Resource: '*' }] }
    store.database.exec(
      'CREATE TABLE IF NOT EXISTS kms_keys (key_id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID',
    )
    for (const row of store.database.prepare('SELECT record FROM kms_keys').all())
      this.#adopt(v.parse(KeyRecord, JSON.parse(String(row.record))))
  }

  /**
   * Opens the stored KMS keys. Creates the template's keys that are missing or have the wrong spec. Updates
   * description, policy and tags of the template's other keys. With `--aws late-keys`, changes after the
   * start become visible only after a delay.
   */
  static async open(store: Store, model: StackModel, quirks: Quirks): Promise<KeyStore> {
    const keys = new KeyStore(store, model)
    const adding = model.keys.map(async ({ keyId, keySpec: spec, description, keyPolicy, tags }) => {
      const known = keys.#keys.get(keyId)?.record
      if (known?.spec !== spec) return keys.create({ keyId, spec, description, keyPolicy, tags })
      const policy = JSON.stringify(keyPolicy ?? keys.#defaultPolicy)
      return keys.save({ ...known, description, tags, policy })
    })
    await Promise.all(adding)
    keys.#drawLag = (change) => drawLag(quirks, change)
    return keys
  }

  /** Creates an enabled KMS key. Throws UnsupportedOperationException for an unknown spec. */
  async create({ keyPolicy, ...members }: NewKey): Promise<Key> {
    const spec = keySpecs[members.spec]
    if (spec === undefined)
      throw new AwsError('UnsupportedOperationException', `KeySpec ${members.spec} is not supported here.`)
    return this.save({
      ...members,
      arn: this.arnOf(members.keyId),
      state: 'Enabled',
      createdAt: Date.now() / 1000,
      policy: JSON.stringify(keyPolicy ?? this.#defaultPolicy),
      material: await generateMaterial(spec),
    })
  }

  /** Stores the record of a new or changed KMS key, and returns the key. */
  save(record: KeyRecord): Key {
    this.#store.database
      .prepare('INSERT OR REPLACE INTO kms_keys (key_id, record) VALUES (?, ?)')
      .run(record.keyId, JSON.stringify(record))
    return this.#adopt(record)
  }

  /** Finds a KMS key by id or ARN. Throws NotFoundException if it is in another region or not visible yet. */
  find(reference: string): Key {
    this.#deleteExpired()
    const key = this.#keys.get(reference.replace(this.#arnPrefix, ''))
    if (key?.lagging.exists.visible === true) return key
    throw new AwsError('NotFoundException', `Key '${reference}' does not exist`)
  }

  /** Lists the KMS keys that are visible by now, ordered by id. */
  list(): Key[] {
    this.#deleteExpired()
    const visible = [...this.#keys.values()].filter(({ lagging }) => lagging.exists.visible)
    return visible.sort((a, b) => (a.record.keyId < b.record.keyId ? -1 : 1))
  }

  arnOf(keyId: string): string {
    return this.#arnPrefix + keyId
  }

  /** Shows each change of a key only after a delay. Keys that exist from the start are visible at once. */
  #track({ tags, state }: KeyRecord, known: Key | undefined): VisibleKey {
    const lagging: VisibleKey = known?.lagging ?? {
      exists: new LaggingValue(false),
      tags: new LaggingValue({}),
      state: new LaggingValue('Creating'),
    }
    if (known === undefined) lagging.exists.change(true, this.#drawLag('exists'))
    if (!isDeepStrictEqual(known?.record.tags, tags)) lagging.tags.change(tags, this.#drawLag('tags'))
    if (known?.record.state !== state) lagging.state.change(state, this.#drawLag('state'))
    return lagging
  }

  #adopt(record: KeyRecord): Key {
    const spec = keySpecs[record.spec]
    if (spec === undefined) throw new Error(`the store holds a key of the unknown spec ${record.spec}`)
    const known = this.#keys.get(record.keyId)
    const unchanged = known?.record.material === record.material
    const material = unchanged ? known.material : readMaterial(spec, record.material)
    const policy = compilePolicies([JSON.parse(record.policy) as PolicyDocument], `key ${record.keyId}`)
    const key = { record, lagging: this.#track(record, known), spec, material, policy }
    this.#keys.set(record.keyId, key)
    return key
  }

  #deleteExpired(): void {
    for (const { record } of this.#keys.values()) {
      if ((record.deletionAt ?? Infinity) > Date.now() / 1000) continue
      this.#keys.delete(record.keyId)
      this.#store.database.prepare('DELETE FROM kms_keys WHERE key_id = ?').run(record.keyId)
    }
  }
}

import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { PolicyDocument, StackModel } from '../../model.ts'
import { compilePolicies, type CompiledPolicy } from '../iam/policy.ts'
import type { Store } from '../store.ts'
import { AwsError } from '../wire/aws-error.ts'
import { generateMaterial, readMaterial, type KeyMaterial } from './key-material.ts'
import { keySpecifications, type KeySpecification } from './key-specs.ts'

const KeyState = v.picklist(['Enabled', 'Disabled', 'PendingDeletion'])

/** What of a key is kept in the store. */
const KeyRecord = v.object({
  keyId: v.string(),
  arn: v.string(),
  spec: v.string(),
  state: KeyState,
  description: v.string(),
  /** Seconds since the epoch, as KMS writes them. */
  createdAt: v.number(),
  deletionAt: v.optional(v.number()),
  policy: v.string(),
  tags: v.record(v.string(), v.string()),
  material: v.string(),
})
export type KeyRecord = v.InferOutput<typeof KeyRecord>

/** A key ready for use. */
export interface Key {
  record: KeyRecord
  specification: KeySpecification
  material: KeyMaterial
  policy: CompiledPolicy
}

/** What a new key is made of. */
export interface NewKey {
  keyId?: string
  spec: string
  description: string
  policy: PolicyDocument | undefined
  tags: Record<string, string>
}

/** All keys of the account, in memory and in the store. */
export class KeyRing {
  readonly #keys = new Map<string, Key>()
  readonly #store: Store
  readonly #account: { accountId: string; region: string }

  constructor(store: Store, account: { accountId: string; region: string }) {
    this.#store = store
    this.#account = account
    store.database.exec(
      'CREATE TABLE IF NOT EXISTS kms_keys (key_id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID',
    )
    for (const row of store.database.prepare('SELECT record FROM kms_keys').all())
      this.#adopt(v.parse(KeyRecord, JSON.parse(String(row.record))))
  }

  /** The keys of the store, and those of the stack: new ones are made, known ones take the stack's description, policy and tags. */
  static async open(store: Store, model: StackModel): Promise<KeyRing> {
    const ring = new KeyRing(store, model)
    await Promise.all(
      model.keys.map(async (declared) => {
        const known = ring.#keys.get(declared.keyId)
        const { keyId, keySpec: spec, description, keyPolicy: policy, tags } = declared
        if (known?.record.spec !== spec) {
          await ring.create({ keyId, spec, description, policy, tags })
          return
        }
        ring.save({
          ...known.record,
          description,
          tags,
          policy: JSON.stringify(policy ?? ring.#defaultPolicy()),
        })
      }),
    )
    return ring
  }

  /** Makes a key, enabled at once. */
  async create(key: NewKey): Promise<Key> {
    const specification = keySpecifications[key.spec]
    if (specification === undefined)
      throw new AwsError('UnsupportedOperationException', `KeySpec ${key.spec} is not supported here.`)
    const keyId = key.keyId ?? randomUUID()
    const material = await generateMaterial(specification)
    return this.save({
      keyId,
      arn: this.arnOf(`key/${keyId}`),
      spec: key.spec,
      state: 'Enabled',
      description: key.description,
      createdAt: Date.now() / 1000,
      policy: JSON.stringify(key.policy ?? this.#defaultPolicy()),
      tags: key.tags,
      material,
    })
  }

  /** Writes a key's record; what it returns is the key from now on. */
  save(record: KeyRecord): Key {
    const key = this.#adopt(record)
    this.#store.database
      .prepare('INSERT OR REPLACE INTO kms_keys (key_id, record) VALUES (?, ?)')
      .run(record.keyId, JSON.stringify(record))
    return key
  }

  /** Finds a key by its id or ARN; NotFoundException for an unknown one and for another region's. */
  find(reference: string): Key {
    const keyId = reference.replace(this.arnOf('key/'), '')
    const key = this.#keys.get(keyId)
    if (key !== undefined && (key.record.deletionAt ?? Infinity) > Date.now() / 1000) return key
    if (key !== undefined) this.#forget(key)
    throw new AwsError('NotFoundException', `Key '${reference}' does not exist`)
  }

  /** All keys, in the order of their ids. */
  list(): Key[] {
    const now = Date.now() / 1000
    for (const key of this.#keys.values()) if ((key.record.deletionAt ?? Infinity) <= now) this.#forget(key)
    return [...this.#keys.values()].sort((a, b) => (a.record.keyId < b.record.keyId ? -1 : 1))
  }

  /** The ARN of `key/ID` in this account. */
  arnOf(resource: string): string {
    return `arn:aws:kms:${this.#account.region}:${this.#account.accountId}:${resource}`
  }

  #adopt(record: KeyRecord): Key {
    const specification = keySpecifications[record.spec]
    if (specification === undefined)
      throw new Error(`the store holds a key of the unknown spec ${record.spec}`)
    const known = this.#keys.get(record.keyId)
    const key: Key = {
      record,
      specification,
      material:
        known?.record.material === record.material
          ? known.material
          : readMaterial(specification, record.material),
      policy:
        known?.record.policy === record.policy
          ? known.policy
          : compilePolicies([JSON.parse(record.policy) as PolicyDocument], `key ${record.keyId}`),
    }
    this.#keys.set(record.keyId, key)
    return key
  }

  #forget(key: Key): void {
    this.#keys.delete(key.record.keyId)
    this.#store.database.prepare('DELETE FROM kms_keys WHERE key_id = ?').run(key.record.keyId)
  }

  /** What KMS gives a key that is created without a policy: the account decides by IAM. */
  #defaultPolicy(): PolicyDocument {
    return {
      Version: '2012-10-17',
      Statement: [
        {
          Sid: 'Enable IAM User Permissions',
          Effect: 'Allow',
          Principal: { AWS: `arn:aws:iam::${this.#account.accountId}:root` },
          Action: 'kms:*',
          Resource: '*',
        },
      ],
    }
  }
}

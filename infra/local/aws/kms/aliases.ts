import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Call, type Operation } from '../wire/operation.ts'
import { openKey, requireNotPendingDeletion } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'
import { Page, paginate } from './pagination.ts'

const AliasName = v.pipe(v.string(), v.maxLength(256), v.regex(/^alias\/[\w/-]+$/))
const AliasAndTarget = v.object({ AliasName, TargetKeyId: v.string() })

/** Names for keys. The caller needs the permission on the alias and on every key that it names or named. */
export function aliasOperations(ring: KeyRing): Record<string, Operation> {
  return {
    CreateAlias: operation(AliasAndTarget, (input, call) => {
      authorizeAlias(ring, call, 'CreateAlias', input.AliasName)
      const key = openKey(ring, call, 'CreateAlias', input.TargetKeyId)
      if (input.AliasName.startsWith('alias/aws/'))
        throw new AwsError('NotAuthorizedException', 'The prefix alias/aws/ is reserved.')
      if (findAlias(ring, input.AliasName) !== undefined)
        throw new AwsError(
          'AlreadyExistsException',
          `An alias with the name ${ring.arnOf(input.AliasName)} already exists`,
        )
      requireNotPendingDeletion(key)
      ring.setAlias(input.AliasName, key.record.keyId)
    }),

    UpdateAlias: operation(AliasAndTarget, (input, call) => {
      authorizeAlias(ring, call, 'UpdateAlias', input.AliasName)
      const current = openKey(ring, call, 'UpdateAlias', requireAlias(ring, input.AliasName).keyId)
      const target = openKey(ring, call, 'UpdateAlias', input.TargetKeyId)
      requireNotPendingDeletion(target)
      if (current.specification.usage !== target.specification.usage)
        throw new AwsError('ValidationException', 'The current and the new key must have the same key usage.')
      ring.setAlias(input.AliasName, target.record.keyId)
    }),

    DeleteAlias: operation(v.object({ AliasName }), (input, call) => {
      authorizeAlias(ring, call, 'DeleteAlias', input.AliasName)
      openKey(ring, call, 'DeleteAlias', requireAlias(ring, input.AliasName).keyId)
      ring.removeAlias(input.AliasName)
    }),

    ListAliases: operation(v.object({ KeyId: v.optional(v.string()), ...Page.entries }), (input, call) => {
      call.authorize({ action: 'kms:ListAliases', resource: '*' })
      const keyId = input.KeyId === undefined ? undefined : ring.find(input.KeyId).record.keyId
      const aliases = ring
        .aliases()
        .filter((alias) => keyId === undefined || alias.keyId === keyId)
        .map((alias) => ({
          AliasName: alias.name,
          AliasArn: alias.arn,
          TargetKeyId: alias.keyId,
          CreationDate: alias.createdAt,
          LastUpdatedDate: alias.updatedAt,
        }))
      return paginate('Aliases', aliases, input)
    }),
  }
}

function authorizeAlias(ring: KeyRing, call: Call, action: string, name: string): void {
  call.authorize({ action: `kms:${action}`, resource: ring.arnOf(name) })
}

function findAlias(ring: KeyRing, name: string) {
  return ring.aliases().find((alias) => alias.name === name)
}

function requireAlias(ring: KeyRing, name: string) {
  const alias = findAlias(ring, name)
  if (alias === undefined) throw new AwsError('NotFoundException', `Alias ${ring.arnOf(name)} is not found.`)
  return alias
}

import { DisableKeyCommand } from '@aws-sdk/client-kms'
import type * as KmsModule from '../../../shared/aws/kms.ts'
import type * as WriteModule from '../../../shared/db/write.ts'
import type * as KeySetModule from '../../../shared/keys/set.ts'
import type * as SignModule from '../../../shared/keys/sign.ts'
import type * as TokenModule from '../../../shared/tokens/access-token.ts'
import type * as RecordModule from '../../../shared/sign-in/record.ts'
import type * as ScopesModule from '../../../shared/tokens/scopes.ts'
import { loadInProcess } from './processes.ts'
import { processCount } from './world.ts'

/** Clears the signing key sets that the simulated processes cached in the previous simulation. */
export async function forgetKeySets(): Promise<void> {
  for (let process = 0; process < processCount; process += 1) {
    const { forgetCachedKeySet } = (await loadInProcess(process, 'shared/keys/sign.ts')) as typeof SignModule
    forgetCachedKeySet()
  }
}

/** Disables the active signing key in KMS without the service's knowledge. */
export async function disableActiveKey(): Promise<void> {
  const { activeKey, readKeySet } = (await loadInProcess(0, 'shared/keys/set.ts')) as typeof KeySetModule
  const { kms } = (await loadInProcess(0, 'shared/aws/kms.ts')) as typeof KmsModule
  const { arn } = activeKey(await readKeySet()) ?? {}
  await kms.send(new DisableKeyCommand({ KeyId: arn }))
}

const forever = 400 * 86_400_000

/** Issues each user an access_token with every scope. Simulated sign-ins do not use these tokens. */
export async function issueTokens(userIds: readonly number[], now: number): Promise<Map<number, string>> {
  const load = (path: string) => loadInProcess(0, path)
  const { issueAccessToken } = (await load('shared/tokens/access-token.ts')) as typeof TokenModule
  const { transact } = (await load('shared/db/write.ts')) as typeof WriteModule
  const { scopes } = (await load('shared/tokens/scopes.ts')) as typeof ScopesModule
  const { readSignInRecord } = (await load('shared/sign-in/record.ts')) as typeof RecordModule
  const grant = { clientId: 'simulation', scopes, firstParty: true, authenticatedAt: now }
  const records = await Promise.all(userIds.map(readSignInRecord))
  const issued = userIds.map((userId, i) =>
    issueAccessToken({ ...grant, userId, expiresAt: now + forever, generation: records[i]?.generation ?? 0 }),
  )
  await transact(issued.map(({ put }) => put))
  return new Map(issued.map(({ accessToken }, i) => [userIds[i] ?? 0, accessToken]))
}

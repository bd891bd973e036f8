import assert from 'node:assert/strict'
import type { Config } from '../../infra/config.ts'
import { call, eventually } from './flows/call.ts'
import { signInToClient } from './flows/code-flow.ts'
import { refuseEvent } from './flows/dead-letter.ts'
import { consultDoctor } from './flows/doctor.ts'
import { bookDuplicates } from './flows/duplicates.ts'
import { ops } from './flows/ops.ts'
import { rotate } from './flows/rotation.ts'
import { signIn, signOut } from './flows/sign-in.ts'
import { useWallet } from './flows/wallet.ts'
import { changes } from './release-b.ts'
import type { Steps } from './steps.ts'

interface Context {
  steps: Steps
  config: Config
  /** Options of `npm run ops` that name the deployment. */
  target: string[]
}

/** Tries a deployed stage: every flow is tried, even if an earlier one failed. */
export async function tryRelease({ steps, config, target }: Context): Promise<void> {
  const user = await steps.run('sign in by password and authenticator', signIn)
  if (user !== undefined) {
    await steps.run('sign in to a third-party client by code (openid-client)', () => signInToClient(user))
    await steps.run('credit a wallet by event', () => useWallet(user))
    await steps.run('deliver a batch with duplicates', () =>
      bookDuplicates(user, `${config.namePrefix}intake-wallet-adjusted`),
    )
    await steps.run('refuse an event', () => refuseEvent(user, target))
    await steps.run('rotate the signing key', () => rotate(user, target))
    await steps.run('sign out', () => signOut(user))
  }
  await steps.run('doctor', () => consultDoctor(target, steps))
  await steps.run('audit the signing keys', () => ops([...target, 'keys', 'audit']))
  await steps.run('verify the ledger', () => ops([...target, 'ledger', 'verify']))
}

/** Tries the stage after release B has been deployed over release A. */
export async function tryReleaseB({ steps }: Context): Promise<void> {
  const user = await steps.run('sign in after release B', signIn)
  if (user === undefined) return
  await steps.run('credit a wallet after release B', () => useWallet(user))
  await steps.run('reach what release B renamed, and not what it removed', () =>
    eventually(async () => {
      const { removedPath, renamedPath } = changes
      const status = async (path: string) =>
        (await call(`${path}?current=1&size=1`, { token: user.token })).status
      assert.equal(await status(removedPath), 404)
      assert.equal(await status(renamedPath.from), 404)
      assert.equal(await status(renamedPath.to), 200)
    }),
  )
}

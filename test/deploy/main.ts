// Deploys to an AWS emulator and tries what was deployed: `npm run test:deploy`. Exit codes: 0 all held, 1 something did
// not, 2 there is no emulator.
import { deploy } from './deploy.ts'
import { findEmulator, NoEmulator } from './find-emulator.ts'

try {
  await findEmulator(process.env['AWS_ENDPOINT_URL'])
  // Credentials that are good nowhere else: whatever the machine is set up for, no account of anybody's is touched.
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN']) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: process.env['AWS_REGION'] ?? 'us-east-1',
  })
  Object.assign(process.env, deploy())
  // Clients are made on loading, and want the environment by then.
  const { signIn, useWallet } = await import('./flows.ts')
  const user = await signIn()
  console.log('sign-in: a user of the bus signs in by password and authenticator; the public keys verify it')
  await useWallet(user)
  console.log('wallet: a booking of the bus is in the wallet and on a bill, to the last digit')
} catch (error) {
  const missing = error instanceof NoEmulator
  console.error(missing ? error.message : error)
  process.exitCode = missing ? 2 : 1
}

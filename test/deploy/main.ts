// `npm run test:deploy`: deploys to an AWS emulator and runs the flows there. Exit codes: 0 passed, 1 failed,
// 2 no emulator.
import { deploy } from './deploy.ts'
import { findEmulator, NoEmulatorError } from './find-emulator.ts'

try {
  await findEmulator(process.env['AWS_ENDPOINT_URL'])
  // Replaces the machine's own AWS credentials, so that the deployment can never change a real account.
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN']) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: process.env['AWS_REGION'] ?? 'us-east-1',
  })
  Object.assign(process.env, deploy())
  // Imported only now, because these modules create AWS clients, which read the environment when they are
  // loaded.
  const { signIn, useWallet } = await import('./flows.ts')
  const user = await signIn()
  console.log('passed: registration by event, sign-in by password and authenticator, device_token verified')
  await useWallet(user)
  console.log('passed: credit by event, exact balance, one bill, logout')
} catch (error) {
  const missing = error instanceof NoEmulatorError
  console.error(missing ? error.message : error)
  process.exitCode = missing ? 2 : 1
}

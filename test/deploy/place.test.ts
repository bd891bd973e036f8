import { describe, expect, it } from 'vitest'
import type { Emulator } from './find-emulator.ts'
import { readTrialStage, sealEnvironment } from './place.ts'

const emulator: Emulator = { name: 'LocalStack', endpoint: 'http://127.0.0.1:4566', demandsKeys: false }
const ofAccount = {
  PATH: '/bin',
  AWS_PROFILE: 'production',
  AWS_SESSION_TOKEN: 'token',
  AWS_ACCESS_KEY_ID: 'AKIA',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ENDPOINT_URL_S3: 'https://s3.amazonaws.com',
  AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
  AWS_REGION: 'eu-central-1',
}

describe('sealEnvironment', () => {
  it('a run on an emulator knows no credentials of the machine and no other endpoint', () => {
    expect(sealEnvironment(emulator, ofAccount)).toEqual({
      PATH: '/bin',
      AWS_REGION: 'eu-central-1',
      AWS_CA_BUNDLE: undefined,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
    })
  })

  it('an emulator that demands its own keys gets those of the environment, and is refused without', () => {
    const demanding = { ...emulator, demandsKeys: true }
    expect(sealEnvironment(demanding, ofAccount)).toMatchObject({
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_SECRET_ACCESS_KEY: 'secret',
    })
    expect(() => sealEnvironment(demanding, {})).toThrow(/set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
  })
})

it('a stage that protects its data is never tried', async () => {
  const trial = { authorizationPage: true, mailFrom: 'no-reply@example.com', protectData: false }
  const stages = { trial, kept: { ...trial, protectData: true } }
  expect((await readTrialStage('trial', stages)).serviceName).toBe('account-service-trial')
  await expect(readTrialStage('kept', stages)).rejects.toThrow(/protects its data/)
})

import { expect, it } from 'vitest'
import { emulatedAddress } from './reach-emulator.ts'

const endpoint = 'https://127.0.0.1:4566'

it.each([
  'https://1a2b3c4d.execute-api.localhost:4566',
  'http://1a2b3c4d.execute-api.localhost.localstack.cloud:4566',
  'https://1a2b3c4d.execute-api.us-east-1.amazonaws.com',
])('an API that an emulator names %s is reached at the emulator', (base) => {
  expect(emulatedAddress(new URL(`${base}/oauth2/authorize?scope=a%20b`), endpoint).href).toBe(
    'https://127.0.0.1:4566/_aws/execute-api/1a2b3c4d/$default/oauth2/authorize?scope=a%20b',
  )
})

it('an address that is no API of an emulator is left alone', () => {
  expect(emulatedAddress(new URL('https://client.example/callback'), endpoint).href).toBe(
    'https://client.example/callback',
  )
})

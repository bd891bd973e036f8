import { expect, it } from 'vitest'
import { identitiesOf } from '../../infra/mail-identities.ts'

it('an address may send by its own identity, that of its domain, and those of the parent domains', () => {
  expect(identitiesOf('no-reply@mail.eu.example.com')).toEqual([
    'no-reply@mail.eu.example.com',
    'mail.eu.example.com',
    'eu.example.com',
    'example.com',
  ])
})

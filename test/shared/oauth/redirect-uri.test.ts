import * as v from 'valibot'
import { expect, test } from 'vitest'
import { addToQuery, RedirectUri } from '../../../shared/oauth/redirect-uri.ts'

test.each([
  'https://client.example/callback',
  'https://client.example/callback?tenant=1&empty=',
  'https://client.example:8443',
  'https://client.example/?Code=1&codes=2&x=code&statement=state',
  'http://127.0.0.1:4000/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:4000/callback',
  'http://localhost:65535/',
  'com.example.app:/callback',
])('the redirect URI %s can be registered', (uri) => {
  expect(v.is(RedirectUri, uri)).toBe(true)
})

test.each([
  ['relative', '/callback'],
  ['no scheme', 'client.example/callback'],
  ['with a fragment', 'https://client.example/#callback'],
  ['with an empty fragment', 'https://client.example/#'],
  // A browser at an https address reads these two as paths there, and would not come to the client.
  ['https without slashes', 'https:client.example/callback'],
  ['https with one slash', 'https:/client.example/callback'],
  ['https without a host', 'https:///callback'],
  ['plain http on a host of the network', 'http://client.example/callback'],
  ['a host that only begins like a loopback one', 'http://127.0.0.1.example/callback'],
  ['a user before a loopback host', 'http://localhost@client.example/callback'],
  ['with credentials', 'https://user:secret@client.example/callback'],
  ['a script', 'javascript:alert(1)'],
  ['data', 'data:text/html,hello'],
  ['a scheme that anyone could claim', 'myapp:/callback'],
  ['with a line break', 'https://client.example/\r\nset-cookie:a=b'],
  ['with a space', 'https://client.example/call back'],
  ['with a quote', 'https://client.example/"'],
  ['a port beyond 65535', 'http://localhost:65536/'],
  ['nothing', ''],
  ...['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'c%6Fde'].map(
    (name): [string, string] => [
      `with ${name} in its query`,
      `https://client.example/callback?tenant=1&${name}=`,
    ],
  ),
  ['an app’s with a response parameter', 'com.example.app:/callback?state'],
])('an invalid or unsafe redirect URI cannot be registered: %s', (_why, uri) => {
  expect(v.is(RedirectUri, uri)).toBe(false)
})

test.each([
  ['https://app.example/back', { a: '1', b: undefined }, 'https://app.example/back?a=1'],
  ['https://app.example/back?x=y', { a: '1 &' }, 'https://app.example/back?x=y&a=1+%26'],
  ['https://app.example/back', { a: undefined }, 'https://app.example/back'],
])('to the query of %s, the parameters %j are added', (uri, added, result) => {
  expect(addToQuery(uri, added)).toBe(result)
})

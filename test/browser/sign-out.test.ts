import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { getUserinfo, stack } from '../support/oauth.ts'
import { it } from './support/browser-test.ts'
import { HttpsApp } from './support/https-app.ts'
import { button, heading, passwordField, signIn } from './support/page-steps.ts'
import { newUser } from './support/users.ts'

const signOutUrl = (parameters: Record<string, string>) =>
  `${stack.page_url}/sign-out?${new URLSearchParams(parameters).toString()}`

/** Signs a new user in, who stays signed in, and then out as an app asks for it, with a state to return. */
async function signInAndOut(page: Page) {
  const app = await HttpsApp.start(page)
  const user = await newUser({ authenticator: true })
  const session = await signIn(page, app.authorizationUrl(), user, { stay: true })
  await button(page, 'Allow').click()
  const tokens = await app.exchange()
  await page.goto(
    signOutUrl({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: `${app.origin}/bye`,
      state: 'a b&c',
    }),
  )
  await heading(page, 'Sign out?').waitFor()
  await page.getByText(user.email).waitFor()
  await button(page, 'Sign out').click()
  return { app, session, tokens, answer: await app.takeAnswer() }
}

it('an app that signs its user out gets its state back', async ({ open }) => {
  const { app, answer } = await signInAndOut(await open())
  expect(answer.href).toBe(`${app.origin}/bye?state=a+b%26c`)
})

it('a sign-out ends the session and every token of it', async ({ open }) => {
  const page = await open()
  const { app, session, tokens } = await signInAndOut(page)
  for (const { access_token } of [session, tokens]) expect((await getUserinfo(access_token)).status).toBe(401)
  await page.goto(app.authorizationUrl())
  await passwordField(page).waitFor()
})

it('the sign-out page is the one that discovery names', async () => {
  const discovery = await (await fetch(`${stack.base_url}/.well-known/openid-configuration`)).json()
  expect(discovery).toMatchObject({ end_session_endpoint: `${stack.page_url}/sign-out` })
})

it('a user who decides to stay signed in stays so, and does not return to the app', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const user = await newUser({ authenticator: true })
  const session = await signIn(page, app.authorizationUrl(), user, { stay: true })
  await page.goto(signOutUrl({ client_id: app.clientId, post_logout_redirect_uri: `${app.origin}/bye` }))
  await button(page, 'Stay signed in').click()
  await heading(page, 'You are still signed in').waitFor()
  expect((await getUserinfo(session.access_token)).status).toBe(200)
})

it.for([
  [
    'an address that is not registered',
    { post_logout_redirect_uri: 'https://elsewhere.example/' },
    'names an address to return to that is not registered',
  ],
  [
    'a hint that is no token',
    { id_token_hint: 'nonsense' },
    'has an id_token_hint that this service did not',
  ],
] as const)('a sign-out with %s returns nowhere, and says why', async ([, parameters, problem], { open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const user = await newUser({ authenticator: true })
  await signIn(page, app.authorizationUrl(), user, { stay: true })
  const defaults = { client_id: app.clientId, post_logout_redirect_uri: `${app.origin}/bye` }
  await page.goto(signOutUrl({ ...defaults, ...parameters }))
  await page.getByText(problem).waitFor()
  await button(page, 'Sign out').click()
  await heading(page, 'You are signed out').waitFor()
  expect(new URL(page.url()).origin).toBe(stack.page_url)
})

it('where nobody is signed in, the page returns to the app at once, or says so', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  await page.goto(signOutUrl({ client_id: app.clientId, post_logout_redirect_uri: `${app.origin}/bye` }))
  expect((await app.takeAnswer()).pathname).toBe('/bye')
  await page.goto(signOutUrl({}))
  await heading(page, 'You are signed out').waitFor()
})

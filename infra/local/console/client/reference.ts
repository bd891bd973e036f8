import { makeButton } from '../../../authorization-page/dom.ts'
import type { DemoUser } from '../../demo/demo-users.ts'
import { parseExact } from './exact-json.ts'
import { isAccepted, signedInAccount, signIn } from './sign-in.ts'

/** The part of Swagger UI that this file uses; swagger-ui.js defines it. */
declare const SwaggerUIBundle: (options: object) => {
  preauthorizeApiKey: (scheme: string, token: string) => void
}

/** The part of Swagger UI's plugin system that this file uses. */
interface System {
  React: { createElement: (type: unknown, properties?: object | null, ...children: unknown[]) => unknown }
  getComponent: (name: string, connected?: boolean) => unknown
}

/** Formats JSON and keeps every digit of its numbers: amounts have more digits than a double. */
const formatJson = (text: string): string => JSON.stringify(parseExact(text), undefined, 2)

const plugin = ({ React: { createElement }, getComponent }: System) => ({
  components: {
    // Swagger UI's own layout would show a needless list of servers, and no heading above the endpoints.
    Reference: () =>
      createElement(
        'div',
        { className: 'swagger-ui' },
        ...['SvgAssets', 'InfoContainer', 'AuthorizeBtnContainer', 'FilterContainer'].map((name) =>
          createElement(getComponent(name, true)),
        ),
        createElement('h2', null, 'Endpoints'),
        createElement(getComponent('operations', true)),
      ),
  },
  wrapComponents: {
    ExamplesSelect: (Select: unknown) => (shown: object) =>
      createElement('label', null, 'Example', createElement(Select, shown)),
    // Formats JSON itself, because Swagger UI reads numbers as doubles, and would lose digits.
    responseBody: (Body: unknown) => (shown: { content: unknown; contentType: string }) =>
      createElement(
        Body,
        typeof shown.content === 'string' && shown.contentType.startsWith('application/json')
          ? { ...shown, content: formatJson(shown.content), contentType: 'text/plain' }
          : shown,
      ),
  },
})

if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')

const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  plugins: [plugin],
  layout: 'Reference',
  filter: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: -1,
  syntaxHighlight: { theme: 'obsidian' },
  onComplete: () => void showSession(),
  responseInterceptor: (response: { status: number; url: string }) => {
    // After a 401 or a sign-out, the page checks again whether the user is signed in.
    if (response.status === 401 || response.url.endsWith('/user/logout')) void showSession()
    return response
  },
})

const status = document.querySelector('#session')

/** Puts the demo user's token into requests. If there is no valid token, says why and offers to sign in. */
async function showSession(problem = ''): Promise<void> {
  const account = signedInAccount()
  if (account && (await isAccepted(account))) {
    ui.preauthorizeApiKey('accessToken', account.accessToken)
    return status?.replaceChildren(`signed in as ${account.email}`)
  }
  const { users } = (await (await fetch('../users')).json()) as { users: DemoUser[] }
  const user = users.find(({ email }) => email === account?.email) ?? users[0]
  if (user === undefined) return
  const start = () => void signIn(user).catch(String).then(showSession)
  const reason = problem || (account ? 'The sign-in has ended.' : '')
  status?.replaceChildren(`${reason} `, makeButton('primary', `Sign in as ${user.email}`, start))
}

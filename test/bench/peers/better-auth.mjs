// A sign-in by email and password of better-auth, with its storage in memory.
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'

const tables = { user: [], session: [], account: [], verification: [] }
const { api } = betterAuth({
  baseURL: 'http://127.0.0.1:1',
  secret: 'a secret of the benchmark, of 40 characters',
  emailAndPassword: { enabled: true },
  logger: { disabled: true },
  telemetry: { enabled: false },
  database: memoryAdapter(tables),
})
const body = { email: 'somebody@example.com', password: 'correct horse battery', name: 'Somebody' }
await api.signUpEmail({ body })

export const handler = async () => {
  tables.session.length = 0
  const { token } = await api.signInEmail({ body })
  return { signedIn: typeof token === 'string' }
}

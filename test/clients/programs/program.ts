// A client that uses openapi-fetch with generated types: signs in, reads, and gets a failure.
import { createHash } from 'node:crypto'
import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'

/** Keeps the JSON text of a number if parsing would change its digits. The types still say `number`. */
const exact = (_key: string, value: unknown, { source }: { source: string }): unknown =>
  typeof value === 'number' && String(value) !== source ? source : value

const [baseUrl = '', email = '', password = '', authenticator_code = ''] = process.argv.slice(2)
const api = createClient<paths>({ baseUrl })
api.use({
  onResponse: async ({ response }) =>
    new Response(JSON.stringify(JSON.parse(await response.text(), exact as never)), response),
})

const login_password = createHash('md5').update(password).digest('hex')
const ticket = (await api.POST('/user/login-with-password', { body: { email, login_password } })).data?.data
const login_ticket = ticket?.login_ticket ?? ''
const verification = { email, login_ticket, method: 'AUTHENTICATOR', authenticator_code } as const
const user = (await api.POST('/user/login/2fa', { body: verification })).data?.data
const headers = { authorization: `Bearer ${user?.access_token ?? ''}` }

const accounts = await api.GET('/account/info', { headers, params: { query: { currency: 'USDT' } } })
const query = { current: 1, size: 5 }
const bills = await api.GET('/account/bills', { headers, params: { query } })
const members = await api.GET('/community/members', { headers, params: { query } })
const overview = await api.GET('/dashboard/overview', { headers })
const unknown = { query: { currency: 'NONE', currencyNetWork: 'NONE' } }
const { error } = await api.GET('/address/info', { headers, params: unknown })
const balance = accounts.data?.data[0]?.balance
console.log(
  ...[typeof balance, balance, bills.data?.data.records[0]?.amount, members.data?.data.records[0]?.nickname],
  ...[overview.data?.data.balances[0]?.balance, error?.code, error?.data?.errors[0]?.field],
)

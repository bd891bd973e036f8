import { expect, it } from 'vitest'
import { handler as findMembers } from '../../functions/community/members.ts'
import { handler as setNote } from '../../functions/community/note.ts'
import { handler as getDeposit } from '../../functions/deposit/get.ts'
import { handler as verifySecondFactor } from '../../functions/user/login-2fa.ts'
import type { Endpoint } from '../../shared/http/endpoint.ts'
import { scopes } from '../../shared/tokens/scopes.ts'
import { callEndpoint, type TestRequest } from '../support/call-endpoint.ts'
import { createAccessToken } from '../support/community.ts'
import { addUser } from '../support/ledger.ts'
import { addLoginTicket } from '../support/login-tickets.ts'
import { measureCalls } from '../support/measure-calls.ts'
import { depositOfAnother, nobody, unknownText } from '../support/others.ts'
import { createUser } from '../support/sign-in.ts'

/** The header Authorization of a new user. */
const authorization = async () => ({
  authorization: `Bearer ${await createAccessToken(await addUser(), [...scopes])}`,
})

/** An endpoint, with a request about what somebody else has, and the same about what nobody has. */
type Compared = [endpoint: Endpoint, others: TestRequest, nobodys: TestRequest]

const pairs: Record<string, () => Promise<Compared>> = {
  async 'a deposit'() {
    const headers = await authorization()
    const ask = (id: string) => ({ headers, path: { id } })
    return [getDeposit, ask(await depositOfAnother()), ask(unknownText())]
  },
  async 'a user who gets a note'() {
    const headers = await authorization()
    const note = (target: number) => ({ headers, body: { target_user_id: target, note: 'n' } })
    return [setNote, note(await addUser()), note(nobody)]
  },
  async 'a user whose address is searched'() {
    const headers = await authorization()
    const search = (email: string) => ({
      headers,
      query: new URLSearchParams({ type: 'COMMUNITY', current: '1', size: '20', keyword: email }).toString(),
    })
    return [findMembers, search((await createUser()).email), search(`nobody-${nobody}@example.com`)]
  },
  async 'a login ticket'() {
    const [user, other] = [await createUser(), await createUser()]
    const verify = (login_ticket: string) => ({
      body: { email: other.email, login_ticket, method: 'EMAIL', validate_code: '123456' },
    })
    const made = `lt_${nobody.toString(36)}.${unknownText()}`
    return [verifySecondFactor, verify(await addLoginTicket(user, '123456')), verify(made)]
  },
}

it.each(Object.keys(pairs))(
  'the calls behind an answer do not tell whether what is not the caller’s exists: %s',
  async (what) => {
    const [endpoint, others, nobodys] = (await pairs[what]?.()) as Compared
    const callsOf = async (request: TestRequest) => {
      const { names } = await measureCalls(() => callEndpoint(endpoint, request))
      return names.toSorted()
    }
    // The first request of a process also reads what the process keeps.
    await callsOf(nobodys)
    expect(await callsOf(others)).toEqual(await callsOf(nobodys))
  },
)
